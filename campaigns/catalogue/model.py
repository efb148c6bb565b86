"""The catalogue: which attributes targeting may speak of.

Most are rows of a table and can be added, changed and removed while no campaign uses them. Some are
built in, since Copse itself puts them into events: `now.hour`, `now.weekday`, and the categories
that a bid request blocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campaigns.errors import FieldProblem
from campaigns.fields import BadField, Check, any_text, check_fields, missing, text
from campaigns.log.changes import ATTRIBUTE, NewChange, encode
from campaigns.timestamps import written
from index import Attribute, Schema, SchemaError


@dataclass(frozen=True, slots=True)
class AttributeRecord:
    """An attribute as it is stored; a built-in one has no version, rev or times."""

    name: str
    type: str
    description: str
    version: int
    rev: int
    created_at: datetime | None
    updated_at: datetime | None

    @property
    def built_in(self) -> bool:
        return self.name in BUILT_IN_NAMES

    def to_dict(self) -> dict[str, Any]:
        """The attribute as people see it."""
        return {
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "built_in": self.built_in,
            "version": self.version,
            "rev": self.rev,
            "created_at": written(self.created_at),
            "updated_at": written(self.updated_at),
        }

    def change(self) -> NewChange:
        """What the replicas are told."""
        return NewChange(ATTRIBUTE, self.name, encode({"name": self.name, "type": self.type}))


BLOCKED_CATEGORIES = "request.blocked_categories"
"""What the categories of campaigns are held against; `eligibility.py` says how."""

BUILT_IN = (
    AttributeRecord("now.hour", "int", "the hour in UTC, 0 to 23", 0, 0, None, None),
    AttributeRecord("now.weekday", "int", "the day, 1 (Monday) to 7, in UTC", 0, 0, None, None),
    AttributeRecord(
        BLOCKED_CATEGORIES,
        "string list",
        "categories that a bid request wants no campaigns of, from bcat",
        0,
        0,
        None,
        None,
    ),
)
BUILT_IN_NAMES = frozenset(record.name for record in BUILT_IN)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The attributes at one moment. `epoch`, `rev` and `nonce` say which: the change that made
    the catalogue what it is."""

    epoch: str
    rev: int
    nonce: str | None
    schema: Schema

    @property
    def stamp(self) -> tuple[str, int, str | None]:
        """What differs whenever the catalogue does."""
        return self.epoch, self.rev, self.nonce


def schema_of(attributes: Iterable[tuple[str, str]]) -> Schema:
    """The schema of stored (name, type) pairs and the built-ins."""
    declared = [Attribute(name, type) for name, type in attributes]
    return Schema(declared + [Attribute(record.name, record.type) for record in BUILT_IN])


def _type(value: object) -> str:
    try:
        return Attribute("any_name", any_text(value)).type.value
    except SchemaError as error:
        detail = error.message.replace("of any_name ", "")
        raise BadField(error.code, detail) from None


def _name(value: object) -> str:
    try:
        return Attribute(any_text(value), "bool").name
    except SchemaError as error:
        raise BadField(error.code, error.message) from None


FIELDS: dict[str, Check] = {
    "name": _name,
    "type": _type,
    "description": text(1000, blank=True),
}
DEFAULTS: dict[str, Any] = {"description": ""}

_REFUSED = {
    name: f"{name} is not for writing"
    for name in ("built_in", "version", "rev", "created_at", "updated_at")
}


def check_new(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields of an attribute to be, defaults included, and what is wrong with them."""
    values, problems = check_fields(sent, FIELDS, DEFAULTS, _REFUSED)
    return DEFAULTS | values, problems + missing(sent, FIELDS, DEFAULTS)


def check_changes(sent: Mapping[str, Any]) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields to change, and what is wrong with them; the name is for ever."""
    refused = _REFUSED | {"name": "an attribute keeps its name: add another one instead"}
    return check_fields(sent, FIELDS, DEFAULTS, refused)
