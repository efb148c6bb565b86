"""A statistics document: the statistics of the traffic of some days, as plain JSON.

    {"schema": 1,
     "window": {"from": "2026-11-16T00:00:00Z", "to": "2026-11-17T00:00:00Z",
                "days": ["2026-11-16"]},
     "rows": 200000,                valid rows of the log
     "quarantined": 12,             invalid rows
     "requests": 400000.0,          the requests that the rows represent
     "requests_by_day": {"2026-11-16": 400000.0},
     "attributes": {
       "country":  {"type": "string", "presence": 0.98, "distinct": 212, "values": [["US", 0.41]]},
       "age":      {"type": "int", "presence": 0.6, "distinct": 80, "values": [[30, 0.02]],
                    "histogram": [[18, 29, 0.21]]},
       "segments": {"type": "int list", "presence": 0.7, "empty": 0.05, "distinct": 900,
                    "elements": [[12, 0.1]]}},
     "sample": {"rows": 20000, "rate": 0.05, "checksum": "…"}}

All shares are of all requests. The document does not say when or by whom it was made, so that the
same day computed twice is the same document: `canonical` gives its bytes, `checksum_of` their
SHA-256. Documents from before may also have `pairs`, shares of two values together: they are kept
and not used.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from campaigns.errors import FieldProblem, InvalidFields
from index.language.types import Type

SCHEMA = 1
"""The version of the format."""

INDEX_FORMAT = 1
"""The version of the format that `Index.use_statistics` takes."""

DIGITS = 6
"""The significant digits of a share: enough to plan and to compare, and reproducible."""

_FOR_INDEX = ("presence", "empty", "values", "elements", "histogram")


def share(part: float, whole: float) -> float:
    """A share, rounded to `DIGITS` significant digits."""
    return float(f"{part / whole:.{DIGITS}g}") if whole else 0.0


def canonical(document: Mapping[str, Any]) -> bytes:
    """The canonical bytes of a document."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def checksum_of(content: bytes) -> str:
    """SHA-256, in hex: of a document's canonical bytes, or of a sample."""
    return hashlib.sha256(content).hexdigest()


def for_index(document: Mapping[str, Any]) -> dict[str, Any]:
    """The input of `Index.use_statistics`; `docs/statistics.md` has the format."""
    attributes = {
        name: {field: stats[field] for field in _FOR_INDEX if field in stats}
        for name, stats in document["attributes"].items()
    }
    return {"version": INDEX_FORMAT, "attributes": attributes}


def moment_of(text: str) -> datetime:
    """A time of the window, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def check(document: Mapping[str, Any]) -> None:
    """Raise `InvalidFields` with all problems of a document."""
    problems = list(_problems(document))
    if problems:
        raise InvalidFields(*problems)


def _problems(document: Mapping[str, Any]) -> Iterator[FieldProblem]:
    if document.get("schema") != SCHEMA:
        yield _wrong("/schema", f"expected {SCHEMA}, found {document.get('schema')!r}")
        return
    yield from _window_problems(document.get("window"), document.get("requests_by_day"))
    for name in ("rows", "quarantined"):
        if not _is_count(document.get(name)):
            yield _wrong(f"/{name}", "must be a non-negative integer")
    if not _is_amount(document.get("requests")):
        yield _wrong("/requests", "must be a non-negative number")
    sample = document.get("sample")
    if not (
        isinstance(sample, Mapping)
        and _is_count(sample.get("rows"))
        and _is_share(sample.get("rate"))
        and isinstance(sample.get("checksum"), str)
    ):
        yield _wrong("/sample", "must have rows, a rate between 0 and 1, and a checksum")
    attributes = document.get("attributes")
    if not isinstance(attributes, Mapping):
        yield _wrong("/attributes", "must be an object")
        return
    for name, stats in attributes.items():
        yield from _attribute_problems(f"/attributes/{name}", stats)


def _window_problems(window: Any, by_day: Any) -> Iterator[FieldProblem]:
    try:
        first, last = moment_of(window["from"]), moment_of(window["to"])
        days = window["days"]
    except (TypeError, KeyError, ValueError):
        yield _wrong("/window", "must have the times from and to, and days")
        return
    if first >= last:
        yield _wrong("/window", "must end after it begins")
    if not isinstance(days, list) or not days or days != sorted(set(map(str, days))):
        yield _wrong("/window/days", "must be days like 2026-11-16, in order")
        return
    if not isinstance(by_day, Mapping) or sorted(by_day) != days:
        yield _wrong("/requests_by_day", "must have a number for each day of the window")
    elif not all(map(_is_amount, by_day.values())):
        yield _wrong("/requests_by_day", "must be non-negative numbers")


def _attribute_problems(pointer: str, stats: Any) -> Iterator[FieldProblem]:
    if not isinstance(stats, Mapping):
        yield _wrong(pointer, "must be an object")
        return
    if stats.get("type") not in {each.value for each in Type}:
        yield _wrong(f"{pointer}/type", f"unknown type {stats.get('type')!r}")
    if not _is_share(stats.get("presence")):
        yield _wrong(f"{pointer}/presence", "must be a share from 0 to 1")
    if not _is_share(stats.get("empty", 0)):
        yield _wrong(f"{pointer}/empty", "must be a share from 0 to 1")
    if not _is_count(stats.get("distinct")):
        yield _wrong(f"{pointer}/distinct", "must be a non-negative integer")
    for field, length in (("values", 2), ("elements", 2), ("histogram", 3)):
        if not _is_list_of_shares(stats.get(field, []), length):
            yield _wrong(f"{pointer}/{field}", f"must be lists of {length} items, the last a share")


def _wrong(pointer: str, detail: str) -> FieldProblem:
    return FieldProblem(pointer, "statistics.wrong", detail)


def _is_list_of_shares(value: Any, length: int) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, list) and len(row) == length and _is_share(row[-1]) for row in value
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1
