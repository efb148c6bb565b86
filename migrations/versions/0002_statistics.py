"""Versions of the statistics, and the sampled requests of each.

Revision: 0002.
"""

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "statistics",
        sa.Column("id", ID, nullable=False),
        sa.Column("checksum", sa.String(64), nullable=False),
        sa.Column("window_from", TIME, nullable=False),
        sa.Column("window_to", TIME, nullable=False),
        sa.Column("days", sa.JSON(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("quarantined", sa.BigInteger(), nullable=False),
        sa.Column("requests", sa.Double(), nullable=False),
        sa.Column("sample_rows", sa.Integer(), nullable=False),
        sa.Column("sample_rate", sa.Double(), nullable=False),
        sa.Column("gates", sa.String(16), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("drift", sa.JSON(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("previous_id", ID, nullable=True),
        sa.Column("activated_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["previous_id"], ["statistics.id"], name="fk_statistics_previous_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_statistics"),
        sa.UniqueConstraint("checksum", name="uq_statistics_checksum"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "statistics_samples",
        sa.Column("statistics_id", ID, autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["statistics_id"], ["statistics.id"], name="fk_statistics_samples_statistics_id"
        ),
        sa.PrimaryKeyConstraint("statistics_id", name="pk_statistics_samples"),
    )


def downgrade() -> None:
    """Remove the tables. What the log says of statistics stays: it is dense."""
    op.drop_table("statistics_samples")
    op.drop_table("statistics")
