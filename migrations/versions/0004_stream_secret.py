"""The secret with which the changes in Redis are proven to come from the service.

Revision: 0004.
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    """Make the secret; a new epoch makes another one."""
    op.add_column("feed_head", sa.Column("stream_secret", sa.String(64), nullable=True))
    head = sa.table("feed_head", sa.column("stream_secret"))
    op.execute(head.update().values(stream_secret=secrets.token_hex(32)))


def downgrade() -> None:
    """Remove the secret; earlier versions publish changes without a proof."""
    op.drop_column("feed_head", "stream_secret")
