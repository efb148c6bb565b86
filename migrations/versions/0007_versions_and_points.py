"""`device.os_version` is a version, and `geo.point` is in the catalogue.

A campaign that compares `device.os_version` with versions keeps its meaning or gets the one that
was meant: `>= '14.2'` takes '14.10' and not '9.3'. If a campaign uses it in another way
(`starts with '17.'`), the attribute stays a string, and the log names the campaigns. Change them,
then change the type: `PATCH /v1/attributes/device.os_version`.

Not in the log of changes: workers of the version before would not understand these types, and
those of this one read the catalogue when they start.

Revision: 0007.
"""

import json
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"

log = logging.getLogger("alembic.runtime.migration")

VERSION = "device.os_version"
POINT = "geo.point"
CATALOGUE = ((POINT, "point", "latitude and longitude, from geo.lat and geo.lon"),)

_COMPARES = {"=", "!=", "in", "not in", "<", "<=", ">", ">=", "between", "not between"}
_TEXT = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){0,3}", re.ASCII)
"""Versions that fit whatever their numbers are."""

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
    sa.column("tree", sa.Text),
)


def upgrade() -> None:
    """Change the type where every campaign allows it; add the point where the name is free."""
    bind = op.get_bind()
    types = dict(bind.execute(sa.select(ATTRIBUTES.c.name, ATTRIBUTES.c.type)).all())
    if types.get(VERSION) == "string":
        using = bind.execute(_using(VERSION)).all()
        kept = [id for id, tree in using if not all(map(_is_comparison, _predicates(tree)))]
        if kept:
            log.warning("%s stays a string: campaigns %s need it as text", VERSION, kept[:100])
        else:
            _retype("version")
    if POINT not in types:
        now = datetime.now(UTC)
        for name, type, description in CATALOGUE:
            row = {"name": name, "type": type, "description": description, "version": 1, "rev": 0}
            op.execute(ATTRIBUTES.insert().values(**row, created_at=now, updated_at=now))


def downgrade() -> None:
    """Go back to types that earlier versions know, if no campaign needs the others."""
    bind = op.get_bind()
    new = ATTRIBUTES.c.type.in_(("version", "ip", "point"))
    for (name,) in bind.execute(sa.select(ATTRIBUTES.c.name).where(new)).all():
        if name == VERSION:
            _retype("string")
            continue
        used = [id for id, _ in bind.execute(_using(name)).all()]
        if used:
            raise RuntimeError(f"campaigns {used[:100]} use {name}; earlier versions lack it")
        op.execute(ATTRIBUTES.delete().where(ATTRIBUTES.c.name == name))


def _using(name: str) -> sa.Select[int, str]:
    """The campaigns that use an attribute, archived ones left out."""
    uses = CAMPAIGNS.c.attribute_names.contains(f'"{name}"', autoescape=True)
    return sa.select(CAMPAIGNS.c.id, CAMPAIGNS.c.tree).where(CAMPAIGNS.c.status != "archived", uses)


def _retype(type: str) -> None:
    changed = ATTRIBUTES.update().where(ATTRIBUTES.c.name == VERSION)
    op.execute(changed.values(type=type, version=ATTRIBUTES.c.version + 1))


def _predicates(tree: str) -> Iterator[list[str]]:
    """The predicates of a stored tree on the attribute: operator, attribute, operands."""
    pending = [json.loads(tree)[1]]
    while pending:
        node = pending.pop()
        if not isinstance(node, list):
            continue
        if node[0] in ("and", "or", "not", "xor"):
            pending.extend(node[1:])
        elif node[1] == VERSION:
            yield node


def _is_comparison(predicate: list[str]) -> bool:
    """Whether a predicate is valid for versions."""
    op, _, *values = predicate
    if op in ("is null", "is not null"):
        return True
    if op not in _COMPARES or not all(_TEXT.fullmatch(value) for value in values):
        return False
    numbers = [[int(number) for number in value.split(".")] for value in values]
    return "between" not in op or numbers[0] <= numbers[1]
