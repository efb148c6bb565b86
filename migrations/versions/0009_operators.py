"""The operators that targeting can call.

Revision: 0009.
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "operators",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("entry_point", sa.String(200), nullable=True),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("result", sa.String(16), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("timeout_ms", sa.Integer(), nullable=False),
        sa.Column("budget_ms", sa.Integer(), nullable=False),
        sa.Column("cache_seconds", sa.Integer(), nullable=False),
        sa.Column("cache_entries", sa.Integer(), nullable=False),
        sa.Column("cost_us", sa.Integer(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_operators"),
    )


def downgrade() -> None:
    """Remove the table. Campaigns that call an operator match no request then."""
    op.drop_table("operators")
