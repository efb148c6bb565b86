"""Limits of a key: how many requests a second, and how large a body.

Revision: 0003.
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """A key without limits of its own has nulls."""
    op.add_column("api_keys", sa.Column("rate", sa.Integer(), nullable=True))
    op.add_column("api_keys", sa.Column("max_body", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Without the limits the keys go on counting."""
    op.drop_column("api_keys", "max_body")
    op.drop_column("api_keys", "rate")
