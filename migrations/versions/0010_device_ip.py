"""`device.ip` is in the catalogue: the network of a bid request's address.

If the name is taken, that attribute stays as it is. Bid requests set it from now on if it is an
`ip`; campaigns that ask it for single addresses stay valid until their targeting changes, and the
log names those that use it.

Not in the log of changes, as in 0007: workers of a version before `ip` would not understand it.

Revision: 0010.
"""

import logging
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"

log = logging.getLogger("alembic.runtime.migration")

NAME = "device.ip"
CATALOGUE = ((NAME, "ip", "the network of the device: 24 bits of IPv4, 56 of IPv6"),)

TIME = sa.DateTime(timezone=True)
ATTRIBUTES = sa.table(
    "attributes",
    sa.column("name", sa.String),
    sa.column("type", sa.String),
    sa.column("description", sa.Text),
    sa.column("version", sa.BigInteger),
    sa.column("rev", sa.BigInteger),
    sa.column("created_at", TIME),
    sa.column("updated_at", TIME),
)
CAMPAIGNS = sa.table(
    "campaigns",
    sa.column("id", sa.BigInteger),
    sa.column("status", sa.String),
    sa.column("attribute_names", sa.Text),
)


def upgrade() -> None:
    """Add the attribute if its name is free."""
    bind = op.get_bind()
    own = sa.select(ATTRIBUTES.c.type).where(ATTRIBUTES.c.name == NAME)
    type = bind.execute(own).scalar_one_or_none()
    if type is None:
        now = datetime.now(UTC)
        for name, new, description in CATALOGUE:
            row = {"name": name, "type": new, "description": description, "version": 1, "rev": 0}
            op.execute(ATTRIBUTES.insert().values(**row, created_at=now, updated_at=now))
    elif type == "ip":
        uses = CAMPAIGNS.c.attribute_names.contains(f'"{NAME}"', autoescape=True)
        using = sa.select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.status != "archived", uses)
        if ids := list(bind.execute(using.limit(100)).scalars()):
            log.warning("bid requests have %s now, cut to a network: see campaigns %s", NAME, ids)


def downgrade() -> None:
    """The attribute stays: campaigns may use it. 0007 removes it if none does."""
