"""Checks of single fields, as they come from JSON: a value, or `BadField`.

A record names its fields with a check each (`campaign.FIELDS`); `check_fields` runs them all and
collects every problem, so that whoever sent them can mend them in one go.
"""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from campaigns.errors import FieldProblem

Check = Callable[[Any], Any]

MAX_ID = 2**63 - 1

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")


def is_id(id: int) -> bool:
    """Whether a row can have this id; the databases refuse to look for others."""
    return 0 < id <= MAX_ID


class BadField(ValueError):
    """A value that the field cannot have; `place` is its place in a list."""

    def __init__(self, code: str, detail: str, place: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.place = place


def check_fields(
    fields: Mapping[str, Any],
    checks: Mapping[str, Check],
    defaults: Mapping[str, Any],
    refused: Mapping[str, str],
) -> tuple[dict[str, Any], list[FieldProblem]]:
    """The fields that are right, and the problems of the others.

    A null stands for the default; what has no default cannot be null. `refused` says for the
    fields that exist and cannot be written how to change them instead.
    """
    values: dict[str, Any] = {}
    problems: list[FieldProblem] = []
    for name, value in fields.items():
        pointer = f"/{_escaped(name)}"
        if name in refused:
            problems.append(FieldProblem(pointer, "field.read_only", refused[name]))
        elif name not in checks:
            problems.append(FieldProblem(pointer, "field.unknown", f"there is no field {name}"))
        elif value is None:
            if name in defaults:
                values[name] = defaults[name]
            else:
                problems.append(FieldProblem(pointer, "field.null", f"{name} cannot be null"))
        else:
            try:
                values[name] = checks[name](value)
            except BadField as bad:
                at = pointer if bad.place is None else f"{pointer}/{bad.place}"
                problems.append(FieldProblem(at, bad.code, bad.detail))
    return values, problems


def missing(
    fields: Mapping[str, Any], checks: Collection[str], defaults: Collection[str]
) -> list[FieldProblem]:
    """A problem for each field that has to be there and is not."""
    return [
        FieldProblem(f"/{name}", "field.missing", f"{name} is required")
        for name in checks
        if name not in defaults and name not in fields
    ]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def text(longest: int, blank: bool = False) -> Check:
    """A string of at most so many characters, that says something unless `blank` is allowed."""

    def check(value: object) -> str:
        checked = any_text(value)
        if len(checked) > longest:
            raise BadField("text.long", f"at most {longest} characters, not {len(checked)}")
        if not blank and not checked.strip():
            raise BadField("text.blank", "this must not be blank")
        return checked

    return check


def any_text(value: object) -> str:
    """A string that both databases can hold."""
    if not isinstance(value, str):
        raise BadField("type.string", f"expected a string, not {_kind(value)}")
    if "\0" in value:
        raise BadField("text.nul", "a string must not contain the NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadField("text.surrogate", "a string must not contain a lone surrogate") from None
    return value


def integer(lowest: int, highest: int) -> Check:
    """An integer within bounds; `true` and `1.0` are none."""

    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadField("type.integer", f"expected an integer, not {_kind(value)}")
        if not lowest <= value <= highest:
            raise BadField("integer.range", f"must be from {lowest} to {highest}")
        return value

    return check


def texts(most: int, longest: int, known: Collection[str] | None = None) -> Check:
    """A list of strings, of those `known` if any are; repeated ones collapse."""
    item = text(longest)

    def check(value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise BadField("type.list", f"expected a list of strings, not {_kind(value)}")
        if len(value) > most:
            raise BadField("list.long", f"at most {most} of them, not {len(value)}")
        checked: dict[str, None] = {}
        for place, one in enumerate(value):
            try:
                checked[item(one)] = None
            except BadField as bad:
                raise BadField(bad.code, bad.detail, place) from None
            if known is not None and one not in known:
                raise BadField("value.unknown", f"must be one of {', '.join(known)}", place)
        return tuple(checked)

    return check


def one_of(*known: str) -> Check:
    """One of a few words."""

    def check(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise BadField("value.unknown", f"must be one of {', '.join(known)}")
        return value

    return check


def domain(value: object) -> str:
    """A domain name, in lower case; what is not ASCII comes as punycode."""
    checked = any_text(value).lower().removesuffix(".")
    if len(checked) > 253 or not _DOMAIN.fullmatch(checked):
        raise BadField("domain.syntax", "this is not a domain name, like shop.example")
    return checked


def moment(value: object) -> datetime:
    """A moment in UTC, from RFC 3339 text or an aware datetime."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise BadField("moment.syntax", "expected a time like 2026-11-20T00:00:00Z") from None
    if not isinstance(value, datetime):
        raise BadField("type.moment", f"expected a time as text, not {_kind(value)}")
    if value.tzinfo is None:
        raise BadField("moment.zone", "a time needs its zone: Z, or an offset like +01:00")
    try:
        utc = value.astimezone(UTC)
    except OverflowError:
        utc = None
    if utc is None or utc.year < 1970:
        raise BadField("moment.range", "a time must be in the years 1970 to 9999")
    return utc


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a bool", int: "an integer", float: "a number", str: "a string"}
    return kinds.get(type(value), "a list" if isinstance(value, list | tuple) else "an object")
