"""Limits of a key: requests per second and size of a body.

Revision: 0003.
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """Keys without limits of their own have nulls."""
    op.add_column("api_keys", sa.Column("rate", sa.Integer(), nullable=True))
    op.add_column("api_keys", sa.Column("max_body", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Remove the limits; the keys stay valid."""
    op.drop_column("api_keys", "max_body")
    op.drop_column("api_keys", "rate")
