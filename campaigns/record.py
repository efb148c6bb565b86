"""Records: campaigns, advertisers, attributes, API keys. Each declares its fields once.

    name: Annotated[str, Field(Text(MAX_NAME), example="Spring")]
    domain: Annotated[str | None, Field(Domain(), "a domain name", "shop.example")] = None

From this line come the column list of the queries, the check of what a client sends, the JSON that
a client gets, and the request and response models of the API with their examples. Only the table
and its migration are written apart.

A field with a default may be left out or null: both mean the default. A field without a `Field` is
internal: clients neither see nor write it. One that is not compared is not stored either.
"""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from campaigns.errors import FieldProblem, NotFound, VersionConflict
from campaigns.fields import MAX_ID, BadField, Integer, Kind, Moment
from campaigns.log.changes import NewChange

T = TypeVar("T")

UNKNOWN_FIELD = "field.unknown"
"""The code for a field that does not exist, in any request."""


@dataclass(frozen=True, slots=True)
class Field:
    """How a field is checked and described. `read_only` and `fixed` are the error text for a client
    that writes the field, at all or after the record was created."""

    kind: Kind
    description: str = ""
    example: Any = None
    read_only: str = ""
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """A field with what its class says about it: its default, and whether it can be null."""

    field: Field
    default: Any
    nullable: bool

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING

    def to_json(self, value: Any) -> Any:
        """A value as clients see it."""
        return None if value is None else self.field.kind.to_json(value)


class Record:
    """The base of all records: frozen dataclasses with annotated fields."""

    __slots__ = ()

    kind: ClassVar[str]

    @classmethod
    @cache
    def fields(cls) -> dict[str, Declared]:
        """The fields that clients see, in order."""
        hints = get_type_hints(cls, include_extras=True)
        found = {}
        for each in dataclasses.fields(cls):  # type: ignore[arg-type]
            hint = hints[each.name]
            if get_origin(hint) is Annotated:
                value_type, field = get_args(hint)
                nullable = isinstance(value_type, UnionType)
                found[each.name] = Declared(field, each.default, nullable)
        return found

    @classmethod
    @cache
    def writable(cls) -> dict[str, Declared]:
        """The fields that a client writes when it creates the record."""
        return {name: each for name, each in cls.fields().items() if not each.field.read_only}

    @classmethod
    @cache
    def defaults(cls) -> dict[str, Any]:
        """The defaults of the fields that a client writes."""
        return {name: each.default for name, each in cls.writable().items() if each.has_default}

    @classmethod
    @cache
    def columns(cls) -> tuple[str, ...]:
        """The columns of the table, internal ones too."""
        stored = [each for each in dataclasses.fields(cls) if each.compare]  # type: ignore[arg-type]
        return tuple(each.name for each in stored)

    @classmethod
    def example(cls) -> dict[str, Any]:
        """The example of each field that clients see."""
        return {name: each.field.example for name, each in cls.fields().items()}

    def to_dict(self) -> dict[str, Any]:
        """The record as clients see it."""
        return {name: each.to_json(getattr(self, name)) for name, each in self.fields().items()}

    def change(self) -> NewChange:
        """The change for the log: what the replicas need of the record."""
        raise NotImplementedError


def _read_only(name: str) -> str:
    return f"{name} is read-only"


Id = Annotated[int, Field(Integer(1, MAX_ID), example=1, read_only=_read_only("id"))]
Version = Annotated[
    int,
    Field(
        Integer(0, MAX_ID),
        "counts the writes; the ETag is this number in quotes",
        example=4,
        read_only=_read_only("version"),
    ),
]
Rev = Annotated[
    int,
    Field(
        Integer(0, MAX_ID),
        "the position of the last write in the change log",
        example=42,
        read_only=_read_only("rev"),
    ),
]
CREATED_AT = Field(Moment(), example="2026-11-16T09:30:00Z", read_only=_read_only("created_at"))
UPDATED_AT = Field(Moment(), example="2026-11-16T10:00:00Z", read_only=_read_only("updated_at"))
CreatedAt = Annotated[datetime, CREATED_AT]
UpdatedAt = Annotated[datetime, UPDATED_AT]


Checked = tuple[dict[str, Any], list[FieldProblem]]
"""The values of the fields that are right, and a problem for each of the others."""


def check_new(record: type[Record], sent: Mapping[str, Any]) -> Checked:
    """Check the fields of a record that does not exist yet; the values include defaults."""
    values, problems = check_fields(record, sent)
    return record.defaults() | values, problems + missing_fields(record, sent)


def check_changes(record: type[Record], sent: Mapping[str, Any]) -> Checked:
    """Check the fields of a merge patch."""
    fixed = {name: each.field.fixed for name, each in record.fields().items() if each.field.fixed}
    return check_fields(record, sent, refused=fixed)


def check_fields(
    record: type[Record],
    sent: Mapping[str, Any],
    refused: Mapping[str, str] = MappingProxyType({}),
    allowed: Collection[str] = (),
) -> Checked:
    """Check each field that was sent, and report every problem at once. `refused` fields are
    read-only here; `allowed` ones are not, although they are declared so."""
    fields = record.fields()
    values: dict[str, Any] = {}
    problems: list[FieldProblem] = []
    for name, value in sent.items():
        pointer = f"/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in fields:
            problems.append(FieldProblem(pointer, UNKNOWN_FIELD, f"there is no field {name}"))
            continue
        declared = fields[name]
        read_only = refused.get(name) or ("" if name in allowed else declared.field.read_only)
        if read_only:
            problems.append(FieldProblem(pointer, "field.read_only", read_only))
        elif value is not None:
            try:
                values[name] = declared.field.kind(value)
            except BadField as bad:
                at = pointer if bad.position is None else f"{pointer}/{bad.position}"
                problems.append(FieldProblem(at, bad.code, bad.detail))
        elif declared.has_default:
            values[name] = declared.default
        else:
            problems.append(FieldProblem(pointer, "field.null", f"{name} cannot be null"))
    return values, problems


def missing_fields(record: type[Record], sent: Collection[str]) -> list[FieldProblem]:
    """A problem for each required field that was not sent."""
    return [
        FieldProblem(f"/{name}", "field.missing", f"{name} is required")
        for name, each in record.writable().items()
        if not each.has_default and name not in sent
    ]


def found(record: T | None, kind: str, id: int | str) -> T:
    """The record, or `NotFound`."""
    if record is None:
        raise NotFound(kind, id)
    return record


def check_version(kind: str, id: int | str, current: int, expected: int | None) -> None:
    """`VersionConflict` if a record is not at the version that the writer has seen."""
    if expected is not None and current != expected:
        raise VersionConflict(kind, id, expected, current)
