"""Readers of single fields: from the value of a field to the value of an attribute.

A reader gets the value, the object that contains it, and the context. It returns the attribute's
value; `None` if there is none (an unknown code is not wrong); or `WRONG` for a value that the field
cannot have, which is then ignored and counted. No reader raises.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from app.openrtb.codes import CONNECTION_TYPES, DEVICE_TYPES, OPERATING_SYSTEMS
from app.openrtb.countries import alpha_2
from app.openrtb.privacy import Privacy

Object = Mapping[str, Any]

LONGEST_TEXT = 4096
LONGEST_LIST = 10_000
"""The most elements in a list of an event; the rest is ignored and counted."""


class Wrong:
    """The type of `WRONG`: a value that the field cannot have."""


WRONG: Final = Wrong()


@dataclass(slots=True)
class Context:
    """What readers need besides the field: the time of the request, its flags, the imp's floor."""

    moment: datetime
    privacy: Privacy
    ignored: dict[str, int]
    floor: int = 0

    @classmethod
    def at(cls, moment: float, privacy: Privacy, ignored: dict[str, int]) -> "Context":
        """`moment` in epoch seconds."""
        return cls(datetime.fromtimestamp(moment, UTC), privacy, ignored)

    def ignore(self, path: str) -> None:
        """Count a wrong value; `path` must not come from the request."""
        self.ignored[path] = self.ignored.get(path, 0) + 1


Reader = Callable[[Any, Object, Context], Any]


def is_text(value: object) -> bool:
    """Whether it is a string that the index accepts, and not empty."""
    return type(value) is str and 0 < len(value) <= LONGEST_TEXT and "\0" not in value


def as_integer(value: object) -> int | None:
    """An integer, also from 300.0."""
    if type(value) is int:
        return value
    return int(value) if type(value) is float and value.is_integer() else None


def text(value: Any, _: Object, __: Context) -> str | Wrong | None:
    """A string without surrounding blanks."""
    if type(value) is not str or len(value) > LONGEST_TEXT or "\0" in value:
        return WRONG
    return value.strip() or None


def lower(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """A string in lower case."""
    found = text(value, parent, context)
    return found.lower() if isinstance(found, str) else found


def flag(value: Any, _: Object, __: Context) -> bool | Wrong:
    """0 or 1."""
    return bool(value) if value in (0, 1) else WRONG


def cautious_flag(value: Any, _: Object, __: Context) -> bool:
    """0 or 1; anything else counts as 1, the stricter one."""
    return value not in (0, "0", "")


def numbered(words: Mapping[int, str]) -> Reader:
    """The word for a code of one of OpenRTB's lists."""

    def read(value: Any, _: Object, __: Context) -> str | Wrong | None:
        number = as_integer(value)
        return WRONG if number is None else words.get(number)

    return read


device_type = numbered(DEVICE_TYPES)
connection = numbered(CONNECTION_TYPES)


def position(value: Any, _: Object, __: Context) -> int | Wrong | None:
    """A code of the list of positions; 0 is unknown."""
    number = as_integer(value)
    if number is None or not 0 <= number <= 1000:
        return WRONG
    return number or None


def within(lowest: float, highest: float) -> Reader:
    """A number between two others."""

    def read(value: Any, _: Object, __: Context) -> float | Wrong:
        plain = type(value) in (int, float) and lowest <= value <= highest
        return float(value) if plain else WRONG

    return read


latitude = within(-90, 90)
longitude = within(-180, 180)


def age(value: Any, _: Object, context: Context) -> int | Wrong:
    """From a year of birth."""
    year = as_integer(value)
    if year is None or not 0 <= context.moment.year - year <= 120:
        return WRONG
    return context.moment.year - year


def gender(value: Any, _: Object, __: Context) -> str | Wrong | None:
    if not isinstance(value, str):
        return WRONG
    letter = value.strip().upper()
    return letter if letter in ("M", "F", "O") else None


def country(value: Any, _: Object, __: Context) -> str | Wrong:
    return (alpha_2(value) if is_text(value) else None) or WRONG


def region(value: Any, _: Object, __: Context) -> str | Wrong:
    """`CA`, also from `US-CA`."""
    return value.strip().upper().rpartition("-")[2] or WRONG if is_text(value) else WRONG


def local_hour(value: Any, _: Object, context: Context) -> int | Wrong:
    """From the offset to UTC in minutes, at most 14 hours."""
    offset = as_integer(value)
    if offset is None or not -14 * 60 <= offset <= 14 * 60:
        return WRONG
    minutes = context.moment.hour * 60 + context.moment.minute + offset
    return minutes // 60 % 24


def operating_system(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    found = lower(value, parent, context)
    return OPERATING_SYSTEMS.get(found, found) if isinstance(found, str) else found


def language(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """The first part of `en-US`."""
    found = lower(value, parent, context)
    if not isinstance(found, str):
        return found
    first = found.replace("_", "-").partition("-")[0]
    return first if 2 <= len(first) <= 3 and first.isascii() and first.isalpha() else WRONG


def domain(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """A domain, also from the URL of a page."""
    found = lower(value, parent, context)
    if not isinstance(found, str):
        return found
    host = found.partition("://")[2] or found
    for end in "/?#":
        host = host.partition(end)[0]
    return host.rpartition("@")[2].partition(":")[0].removesuffix(".") or WRONG


def page(value: Any, parent: Object, context: Context) -> str | Wrong | None:
    """A URL without its query, fragment and user, which could contain personal data."""
    found = text(value, parent, context)
    if not isinstance(found, str):
        return found
    found = found.partition("#")[0].partition("?")[0]
    scheme, separator, rest = found.partition("://") if "://" in found else ("", "", found)
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}" or WRONG


def gdpr(_: Any, __: Object, context: Context) -> bool | None:
    """As `privacy.judge` read it."""
    return context.privacy.gdpr


def coppa(_: Any, __: Object, context: Context) -> bool | None:
    return context.privacy.coppa


def us_privacy(_: Any, __: Object, context: Context) -> str | Wrong | None:
    return context.privacy.us or WRONG


def floor(_: Any, __: Object, context: Context) -> int:
    """As `restrictions.floor_micros` read it."""
    return context.floor
