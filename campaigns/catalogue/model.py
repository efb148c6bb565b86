"""The catalogue: the attributes that targeting can use.

Most are rows of a table. They can be added, changed and removed while no campaign uses them. Some
are built in, since Copse itself adds them to events: `now.hour`, `now.weekday`, and the categories
that a bid request blocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, ClassVar

from campaigns.catalogue import vocabulary
from campaigns.errors import FieldProblem
from campaigns.fields import AttributeName, AttributeType, Flag, Text, Texts
from campaigns.log.changes import ATTRIBUTE, NewChange, encode
from campaigns.record import CREATED_AT, UPDATED_AT, Field, Record, Rev, Version
from index import Attribute, Schema
from index.language import Operator
from index.language.types import Type, with_article
from index.score import MAX_BID_MICROS

MAX_VALUES = 1000
MAX_VALUE = 100

_WITH_VALUES = ("string", "string list")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeRecord(Record):
    """An attribute as it is stored; a built-in one has no row, and so no version, rev or times."""

    kind: ClassVar = ATTRIBUTE

    name: Annotated[
        str,
        Field(
            AttributeName(),
            "1 to 128 characters, none of them a control character; not a keyword of the language",
            "age",
            fixed="an attribute keeps its name: add another attribute instead",
        ),
    ]
    type: Annotated[str, Field(AttributeType(), example="int")]
    description: Annotated[str, Field(Text(1000, blank=True), example="years, from user.yob")] = ""
    values: Annotated[
        tuple[str, ...] | None,
        Field(
            Texts(MAX_VALUES, MAX_VALUE),
            "the values that it has, for strings and lists of strings: targeting with another one "
            "gets a warning. null: those that Copse knows for this name, if any; an empty list: "
            "any value",
        ),
    ] = None
    built_in: Annotated[bool, Field(Flag(), example=False, read_only="built_in is read-only")] = (
        False
    )
    version: Version = 0
    rev: Rev = 0
    created_at: Annotated[datetime | None, CREATED_AT] = None
    updated_at: Annotated[datetime | None, UPDATED_AT] = None

    @property
    def usual_values(self) -> tuple[str, ...] | None:
        """The values that it has, as far as they are known."""
        if self.values is not None:
            return self.values or None
        return vocabulary.VALUES.get(self.name) if self.type in _WITH_VALUES else None

    def change(self) -> NewChange:
        """What the index needs: the name and the type."""
        return NewChange(ATTRIBUTE, self.name, encode({"name": self.name, "type": self.type}))


def check_values(type: str, values: tuple[str, ...] | None) -> list[FieldProblem]:
    """Only strings have a vocabulary."""
    if not values or type in _WITH_VALUES:
        return []
    detail = f"{with_article(Type(type))} has no list of values"
    return [FieldProblem("/values", "attribute.values", detail)]


BLOCKED_CATEGORIES = "request.blocked_categories"
"""What a bid request blocks, for targeting and for explanations. Campaigns of these categories are
excluded by their labels, not by this attribute: `campaign/categories.py`."""

FLOOR = "imp.floor_micros"
"""The lowest bid that a request takes, also for a match: campaigns that bid less do not match."""


def floor_of(attributes: Mapping[str, object], catalogue: Mapping[str, str]) -> int:
    """The floor of a request's attributes; 0 if there is none, or if the catalogue does not have it
    as an int."""
    floor = attributes.get(FLOOR)
    if type(floor) is not int or catalogue.get(FLOOR) != "int":
        return 0
    return min(max(floor, 0), MAX_BID_MICROS)


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
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of attributes, as far as they are declared."""

    @property
    def stamp(self) -> tuple[str, int, str | None]:
        """A value that differs whenever the catalogue does."""
        return self.epoch, self.rev, self.nonce


def schema_of(attributes: Iterable[tuple[str, str]], operators: Iterable[Operator] = ()) -> Schema:
    """The schema of stored (name, type) pairs and the built-ins, and of operators."""
    declared = [Attribute(name, type) for name, type in attributes]
    built_in = [Attribute(record.name, record.type) for record in BUILT_IN]
    return Schema(declared + built_in, operators)
