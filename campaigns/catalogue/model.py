"""The catalogue: the attributes that targeting can use.

Most are rows of a table. They can be added, changed and removed while no campaign uses them. Some
are built in, since Copse itself adds them to events: `now.hour`, `now.weekday`, and the categories
that a bid request blocks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

from campaigns.fields import AttributeName, AttributeType, Flag, Text
from campaigns.log.changes import ATTRIBUTE, NewChange, encode
from campaigns.record import CREATED_AT, UPDATED_AT, Field, Record, Rev, Version
from index import Attribute, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeRecord(Record):
    """An attribute as it is stored; a built-in one has no row, and so no version, rev or times."""

    kind: ClassVar = ATTRIBUTE

    name: Annotated[
        str,
        Field(
            AttributeName(),
            "letters, digits and _ in parts separated by dots; not a keyword of the language",
            "age",
            fixed="an attribute keeps its name: add another attribute instead",
        ),
    ]
    type: Annotated[str, Field(AttributeType(), example="int")]
    description: Annotated[str, Field(Text(1000, blank=True), example="years, from user.yob")] = ""
    built_in: Annotated[bool, Field(Flag(), example=False, read_only="built_in is read-only")] = (
        False
    )
    version: Version = 0
    rev: Rev = 0
    created_at: Annotated[datetime | None, CREATED_AT] = None
    updated_at: Annotated[datetime | None, UPDATED_AT] = None

    def change(self) -> NewChange:
        """What the index needs: the name and the type."""
        return NewChange(ATTRIBUTE, self.name, encode({"name": self.name, "type": self.type}))


BLOCKED_CATEGORIES = "request.blocked_categories"
"""The attribute that excludes campaigns by their categories; `campaign/categories.py` says how."""

BUILT_IN = tuple(
    AttributeRecord(name=name, type=type, description=description, built_in=True)
    for name, type, description in (
        ("now.hour", "int", "the hour in UTC, 0 to 23"),
        ("now.weekday", "int", "the day, 1 (Monday) to 7, in UTC"),
        (BLOCKED_CATEGORIES, "string list", "categories that a bid request blocks, from bcat"),
    )
)
MAX_ATTRIBUTES = 2000
"""The most attributes of a catalogue, without the built-in ones. Every worker builds its schema
anew when the catalogue changes, and a misspelt name is compared with all of them."""

BUILT_IN_NAMES = frozenset(record.name for record in BUILT_IN)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The attributes at one position of the log. `epoch`, `rev` and `nonce` name the change that
    last altered them."""

    epoch: str
    rev: int
    nonce: str | None
    schema: Schema

    @property
    def stamp(self) -> tuple[str, int, str | None]:
        """A value that differs whenever the catalogue does."""
        return self.epoch, self.rev, self.nonce


def schema_of(attributes: Iterable[tuple[str, str]]) -> Schema:
    """The schema of stored (name, type) pairs and the built-ins."""
    declared = [Attribute(name, type) for name, type in attributes]
    return Schema(declared + [Attribute(record.name, record.type) for record in BUILT_IN])
