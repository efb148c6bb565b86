"""The values that an attribute has, and `local.weekday` beside `local.hour`.

Revision: 0008.
"""

import json
import secrets
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"

TIME = sa.DateTime(timezone=True)

NAME, TYPE = "local.weekday", "int"
CATALOGUE = ((NAME, TYPE, "the day where the user is, 1 (Monday) to 7, from geo.utcoffset"),)


def upgrade() -> None:
    """Add the column, and the attribute if its name is free."""
    op.add_column("attributes", sa.Column("values", sa.JSON(), nullable=True))
    connection = op.get_bind()
    attributes = sa.table(
        "attributes",
        sa.column("name"),
        sa.column("type"),
        sa.column("description"),
        sa.column("version"),
        sa.column("rev"),
        sa.column("created_at", TIME),
        sa.column("updated_at", TIME),
    )
    head = sa.table("feed_head", sa.column("rev"), sa.column("catalogue_rev"))
    # Writers wait for this row, so the log stays dense.
    connection.execute(head.update().values(rev=head.c.rev))
    rev = connection.execute(sa.select(head.c.rev)).scalar_one()
    taken = sa.select(attributes.c.name).where(attributes.c.name == NAME)
    if connection.execute(taken).first() is not None:
        return
    # In an empty database the catalogue is there from the start; in another one it changes.
    at, now = rev + 1 if rev else 0, datetime.now(UTC)
    for name, type, description in CATALOGUE:
        row = {"name": name, "type": type, "description": description, "version": 1, "rev": at}
        op.execute(attributes.insert().values(**row, created_at=now, updated_at=now))
    if not rev:
        return
    changes = sa.table(
        "changes",
        sa.column("rev"),
        sa.column("kind"),
        sa.column("object_id"),
        sa.column("nonce"),
        sa.column("payload"),
        sa.column("at"),
    )
    op.execute(
        changes.insert().values(
            rev=at,
            kind="attribute",
            object_id=NAME,
            nonce=secrets.token_hex(8),
            payload=json.dumps({"name": NAME, "type": TYPE}),
            at=now.timestamp(),
        )
    )
    connection.execute(head.update().values(rev=at, catalogue_rev=at))


def downgrade() -> None:
    """Remove the column. The attribute stays: campaigns may use it."""
    op.drop_column("attributes", "values")
