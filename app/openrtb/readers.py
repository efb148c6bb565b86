"""Readers of single fields: from the value of a field to the value of an attribute.

A reader gets the value, the object that contains it, and the context. It returns the attribute's
value; `None` if there is none (an unknown code is not wrong); or `WRONG` for a value that the field
cannot have, which is then ignored and counted. No reader raises.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from app.openrtb.codes import CONNECTION_TYPES, DEVICE_TYPES
from app.openrtb.domains import host
from campaigns.catalogue import vocabulary
from campaigns.catalogue.countries import alpha_2
from index.language.version import version_of

Object = Mapping[str, Any]

_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_NUMBERS = re.compile(r"\s*v?([0-9]+(?:\.[0-9]+)*)", re.ASCII)
_DECIMAL = re.compile(r"\s*[+-]?[0-9]{1,18}(?:\.[0-9]{0,18})?\s*")

LONGEST_TEXT = 4096
LONGEST_LIST = 10_000
"""The most elements in a list of an event; the rest is ignored and counted."""


class Wrong:
    """The type of `WRONG`: a value that the field cannot have."""


WRONG: Final = Wrong()


@dataclass(slots=True)
class Context:
    """What readers need besides the field: the time of the request, and where to count."""

    moment: datetime
    ignored: dict[str, int]
    tolerated: dict[str, int]
    categories: tuple[object, list[str]] = (None, [])
    """The list of codes that was read last, and its categories."""

    loose: bool = False
    """Set by a reader that used a value which the specification writes in another way."""

    lost: bool = False
    """Set by a reader that left out elements of a list."""

    @classmethod
    def at(cls, moment: float, ignored: dict[str, int], tolerated: dict[str, int]) -> "Context":
        """`moment` in epoch seconds."""
        return cls(datetime.fromtimestamp(moment, UTC), ignored, tolerated)

    def ignore(self, path: str) -> None:
        """Count a wrong value; `path` must not come from the request."""
        self.ignored[path] = self.ignored.get(path, 0) + 1

    def tolerate(self, path: str) -> None:
        """Count a value that was used; `path` must not come from the request."""
        self.tolerated[path] = self.tolerated.get(path, 0) + 1

    def settle(self, path: str) -> None:
        """Count what readers have set; `path` must not come from the request."""
        if self.lost:
            self.ignore(path)
        if self.loose:
            self.tolerate(path)
        self.loose = self.lost = False

    def integer(self, value: object) -> int | None:
        """An integer, also from 300.0 and from "300"."""
        if type(value) is int:
            return value
        if type(value) is float:
            return int(value) if value.is_integer() else None
        if type(value) is str and _INTEGER.fullmatch(value):
            self.loose = True
            return int(value)
        return None

    def text(self, value: object) -> str | None:
        """A string that the index accepts, and not empty; also from a number."""
        if type(value) is str:
            return value if 0 < len(value) <= LONGEST_TEXT and "\0" not in value else None
        if type(value) is int or type(value) is float:
            self.loose = True
            return str(value)
        return None


Reader = Callable[[Any, Object, Context], Any]


def is_text(value: object) -> bool:
    """Whether it is a string that the index accepts, and not empty."""
    return type(value) is str and 0 < len(value) <= LONGEST_TEXT and "\0" not in value


def text(value: Any, _: Object, context: Context) -> str | Wrong | None:
    """A string without surrounding blanks, also from a number."""
    if type(value) is str and 0 < len(value) <= LONGEST_TEXT and "\0" not in value:
        return value.strip() or None
    found = context.text(value)
    if found is None:
        return None if value == "" else WRONG
    return found.strip() or None


def flag(value: Any, _: Object, context: Context) -> bool | Wrong:
    """0 or 1."""
    if type(value) is bool:
        context.loose = True
        return value
    number = context.integer(value)
    return bool(number) if number in (0, 1) else WRONG


def numbered(words: Mapping[int, str]) -> Reader:
    """The word for a code of one of OpenRTB's lists."""

    def read(value: Any, _: Object, context: Context) -> str | Wrong | None:
        number = context.integer(value)
        return WRONG if number is None else words.get(number)

    return read


device_type = numbered(DEVICE_TYPES)
connection = numbered(CONNECTION_TYPES)


def position(value: Any, _: Object, context: Context) -> int | Wrong | None:
    """A code of the list of positions; 0 is unknown."""
    number = context.integer(value)
    if number is None or not 0 <= number <= 1000:
        return WRONG
    return number or None


def number(lowest: int, highest: int) -> Reader:
    """An integer between two others."""

    def read(value: Any, _: Object, context: Context) -> int | Wrong:
        found = context.integer(value)
        return WRONG if found is None or not lowest <= found <= highest else found

    return read


seconds = number(-2, 10**6)
code = number(0, 10**6)


def within(lowest: float, highest: float) -> Reader:
    """A number between two others."""

    def read(value: Any, _: Object, context: Context) -> float | Wrong:
        if type(value) is str and _DECIMAL.fullmatch(value):
            context.loose = True
            value = float(value)
        plain = type(value) in (int, float) and lowest <= value <= highest
        return float(value) if plain else WRONG

    return read


latitude = within(-90, 90)
longitude = within(-180, 180)


def point(value: Any, geo: Object, context: Context) -> list[float] | Wrong:
    """A latitude, and the longitude beside it."""
    lat, lon = latitude(value, geo, context), longitude(geo.get("lon"), geo, context)
    return WRONG if isinstance(lat, Wrong) or isinstance(lon, Wrong) else [lat, lon]


def version(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """The numbers at the beginning: `14.2` from `14.2-beta` or `v14.2`."""
    found = text(value, parent, context)
    return _numbers(found) or WRONG if isinstance(found, str) else found


@lru_cache(maxsize=4096)
def _numbers(written: str) -> str | None:
    found = _NUMBERS.match(written)
    return found[1] if found is not None and version_of(found[1]) is not None else None


def age(value: Any, _: Object, context: Context) -> int | Wrong:
    """From a year of birth."""
    year = context.integer(value)
    if year is None or not 0 <= context.moment.year - year <= 120:
        return WRONG
    return context.moment.year - year


def gender(value: Any, _: Object, __: Context) -> str | Wrong | None:
    return vocabulary.gender(value) if isinstance(value, str) else WRONG


def country(value: Any, _: Object, __: Context) -> str | Wrong:
    return (alpha_2(value) if is_text(value) else None) or WRONG


def region(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """`CA`, also from `US-CA`."""
    found = text(value, parent, context)
    return found.upper().rpartition("-")[2] or WRONG if isinstance(found, str) else found


def local_hour(value: Any, _: Object, context: Context) -> int | Wrong:
    """The hour where the user is."""
    minutes = _local_minutes(value, context)
    return WRONG if minutes is None else minutes // 60 % 24


def local_weekday(value: Any, _: Object, context: Context) -> int | Wrong:
    """The day where the user is, 1 (Monday) to 7."""
    minutes = _local_minutes(value, context)
    days = 0 if minutes is None else minutes // (24 * 60)
    return WRONG if minutes is None else (context.moment.weekday() + days) % 7 + 1


def _local_minutes(value: Any, context: Context) -> int | None:
    """The minutes since the day began in UTC, where the user is: below 0 it is the day before
    there. From the offset to UTC in minutes, at most 14 hours."""
    offset = context.integer(value)
    if offset is None or not -14 * 60 <= offset <= 14 * 60:
        return None
    return context.moment.hour * 60 + context.moment.minute + offset


def operating_system(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    found = text(value, parent, context)
    return vocabulary.operating_system(found) if isinstance(found, str) else found


def maker(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    found = text(value, parent, context)
    return vocabulary.maker(found) if isinstance(found, str) else found


def language(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    found = text(value, parent, context)
    return vocabulary.language(found) or WRONG if isinstance(found, str) else found


def domain(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """A domain, also from the URL of a page."""
    found = text(value, parent, context)
    return host(found) or WRONG if isinstance(found, str) else found


def page(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """A URL without its query, fragment and user, which could contain personal data."""
    found = text(value, parent, context)
    if not isinstance(found, str):
        return found
    found = found.partition("#")[0].partition("?")[0]
    scheme, separator, rest = found.partition("://") if "://" in found else ("", "", found)
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}" or WRONG


def given(_: Any, __: Object, ___: Context) -> Wrong:
    """In place of a reader: `mapping.Fields` is given the value."""
    return WRONG
