"""The kinds of fields that a record can have. A kind checks a value that came from JSON: it returns
the value to store, or raises `BadField`. `record.py` says how a record declares its fields."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.timestamps import written
from index import Attribute, SchemaError
from index.language.types import Type

Check = Callable[[Any], Any]

MAX_ID = 2**63 - 1
MAX_NAME = 200
MAX_DOMAIN = 253

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")


def is_id(id: int) -> bool:
    """Whether a row can have this id; the databases reject a query for any other."""
    return 0 < id <= MAX_ID


class BadField(ValueError):
    """A value that the field cannot have; `position` is the index of a bad list item."""

    def __init__(self, code: str, detail: str, position: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.position = position


class Kind:
    """What values a field can have."""

    def __call__(self, value: object) -> Any:
        """The value to store, or `BadField`."""
        raise NotImplementedError

    def to_json(self, value: Any) -> Any:
        """A stored value that is not null, as clients see it."""
        return value


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A string that both databases can store, of at most `longest` characters."""

    longest: int | None = None
    blank: bool = False

    def __call__(self, value: object) -> str:
        if not isinstance(value, str):
            raise BadField("type.string", f"expected a string, not {_type_name(value)}")
        if "\0" in value:
            raise BadField("text.nul", "a string must not contain the NUL character")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BadField("text.surrogate", "a string must not contain a lone surrogate") from None
        if self.longest is not None and len(value) > self.longest:
            raise BadField("text.long", f"at most {self.longest} characters, not {len(value)}")
        if not self.blank and not value.strip():
            raise BadField("text.blank", "this must not be blank")
        return value


ANY_TEXT = Text(blank=True)


@dataclass(frozen=True, slots=True)
class Integer(Kind):
    """An integer within bounds; `true` and `1.0` are not integers."""

    lowest: int
    highest: int

    def __call__(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadField("type.integer", f"expected an integer, not {_type_name(value)}")
        if not self.lowest <= value <= self.highest:
            raise BadField("integer.range", f"must be from {self.lowest} to {self.highest}")
        return value


@dataclass(frozen=True, slots=True)
class Texts(Kind):
    """A list of at most `most` strings, each in `known` if that is given; duplicates collapse."""

    most: int
    longest: int
    known: tuple[str, ...] | None = None

    def __call__(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise BadField("type.list", f"expected a list of strings, not {_type_name(value)}")
        if len(value) > self.most:
            raise BadField("list.long", f"at most {self.most} items, not {len(value)}")
        text = Text(self.longest)
        checked: dict[str, None] = {}
        for position, item in enumerate(value):
            try:
                checked[text(item)] = None
                if self.known is not None:
                    OneOf(self.known)(item)
            except BadField as bad:
                raise BadField(bad.code, bad.detail, position) from None
        return tuple(checked)

    def to_json(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


@dataclass(frozen=True, slots=True)
class StoreIds(Texts):
    """Ids of apps in their stores, in lower case."""

    def __call__(self, value: object) -> tuple[str, ...]:
        checked = Texts.__call__(self, value)
        return tuple(dict.fromkeys(each.strip().lower() for each in checked))


@dataclass(frozen=True, slots=True)
class OneOf(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    def __call__(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise BadField("value.unknown", f"must be one of {', '.join(self.words)}")
        return value


@dataclass(frozen=True, slots=True)
class Domain(Kind):
    """A domain name, stored in lower case."""

    def __call__(self, value: object) -> str:
        checked = ANY_TEXT(value).lower().removesuffix(".")
        if len(checked) > MAX_DOMAIN or not _DOMAIN.fullmatch(checked):
            raise BadField("domain.syntax", "expected a domain name like shop.example")
        return checked


@dataclass(frozen=True, slots=True)
class Moment(Kind):
    """A time, from RFC 3339 text or an aware datetime; stored in UTC."""

    def __call__(self, value: object) -> datetime:
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value)
            except ValueError:
                detail = "expected a time like 2026-11-20T00:00:00Z"
                raise BadField("moment.syntax", detail) from None
        if not isinstance(value, datetime):
            raise BadField("type.moment", f"expected a time as text, not {_type_name(value)}")
        if value.tzinfo is None:
            raise BadField("moment.zone", "a time needs a zone: Z, or an offset like +01:00")
        try:
            utc = value.astimezone(UTC)
        except OverflowError:
            utc = None
        if utc is None or utc.year < 1970:
            raise BadField("moment.range", "a time must be in the years 1970 to 9999")
        return utc

    def to_json(self, value: datetime) -> str | None:
        return written(value)


@dataclass(frozen=True, slots=True)
class Flag(Kind):
    """True or false; only in fields that clients cannot write."""


@dataclass(frozen=True, slots=True)
class AttributeName(Kind):
    """The name of an attribute, as the targeting language allows it."""

    def __call__(self, value: object) -> str:
        try:
            return Attribute(ANY_TEXT(value), "bool").name
        except SchemaError as error:
            raise BadField(error.code, error.message) from None


@dataclass(frozen=True, slots=True)
class AttributeType(Kind):
    """A type of the targeting language."""

    words: tuple[str, ...] = tuple(each.value for each in Type)

    def __call__(self, value: object) -> str:
        try:
            return Attribute("any_name", ANY_TEXT(value)).type.value
        except SchemaError as error:
            detail = error.message.replace("of any_name ", "")
            raise BadField(error.code, detail) from None


@dataclass(frozen=True, slots=True)
class Types(Kind):
    """One to `most` types of the targeting language, in order."""

    most: int
    words: tuple[str, ...] = AttributeType().words

    def __call__(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise BadField("type.list", f"expected a list of types, not {_type_name(value)}")
        if not 1 <= len(value) <= self.most:
            raise BadField("list.length", f"expected 1 to {self.most} types, not {len(value)}")
        checked = []
        for position, item in enumerate(value):
            try:
                checked.append(AttributeType()(item))
            except BadField as bad:
                raise BadField(bad.code, bad.detail, position) from None
        return tuple(checked)

    def to_json(self, value: tuple[str, ...]) -> list[str]:
        return list(value)


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "a bool", int: "an integer", float: "a number", str: "a string"}
    return names.get(type(value), "a list" if isinstance(value, list | tuple) else "an object")
