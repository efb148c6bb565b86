"""What became of sampled requests, for each campaign by the hour.

Revision: 0005.
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "delivery",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("considered", sa.BigInteger(), nullable=False),
        sa.Column("matched", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "hour", name="pk_delivery"),
    )
    op.create_index("ix_delivery_hour", "delivery", ["hour"])
    op.create_table(
        "delivery_reasons",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("code", sa.String(32), nullable=False),
        sa.Column("predicate", sa.String(200), nullable=False),
        sa.Column("misses", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "campaign_id", "hour", "code", "predicate", name="pk_delivery_reasons"
        ),
    )
    op.create_index("ix_delivery_reasons_hour", "delivery_reasons", ["hour"])


def downgrade() -> None:
    """Remove the tables."""
    op.drop_table("delivery_reasons")
    op.drop_table("delivery")
