"""One row of the log: what a request sent, and what it was answered."""

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

Object = Mapping[str, object]

_ROW = 600
"""The bytes of a row without its attributes and its matches, roughly."""

_INFLATED = 6
"""So many times the length of its JSON do the objects of attributes take in memory, roughly."""


class Unencodable(ValueError):
    """A row that is no JSON, or whose parts are not what they should be."""


class Impression(NamedTuple):
    """A request and its answer, as cheap as possible to hand over.

    `attributes` may be the JSON of an object and `answer` the JSON of an answer as
    `Matches.to_json` writes it; they are read when the row is written. Otherwise `answer` is the
    ids, best first, and how many matched in all. `size` is how long the request's body was, if
    that is known: it saves measuring the attributes.
    """

    time: float
    route: str
    request_id: str
    attributes: Object | bytes
    builtins: Object
    answer: tuple[Sequence[int], int] | bytes
    epoch: str
    rev: int
    sample_rate: float
    size: int = 0


def weight_of(row: Impression) -> int:
    """How many bytes a row takes in memory, roughly; well below a microsecond if the attributes
    are JSON or the size is known, else a few."""
    attributes, answer = row.attributes, row.answer
    weight = _ROW + (len(answer) if isinstance(answer, bytes) else 32 * len(answer[0]))
    if isinstance(attributes, bytes):
        return weight + len(attributes)
    if row.size:
        return weight + _INFLATED * row.size
    for value in attributes.values():
        # A list of strings may weigh more than this; its strings are bounded by the body's size.
        weight += 64 + (64 * len(value) if isinstance(value, list) else sys.getsizeof(value))
    return weight


def encode(row: Impression, permits: Callable[[str], bool]) -> bytes:
    """The row as one line of JSON, with only those attributes that may be logged."""
    try:
        attributes = row.attributes
        sent = orjson.loads(attributes) if isinstance(attributes, bytes) else attributes
        matches, total = _answered(row.answer)
        return orjson.dumps(
            {
                "time": row.time,
                "request_id": row.request_id,
                "route": row.route,
                "attributes": {
                    name: value
                    for name, value in sent.items()
                    if value is not None and permits(name)
                },
                "builtins": row.builtins,
                "matches": matches,
                "total": total,
                "epoch": row.epoch,
                "rev": row.rev,
                "sample_rate": row.sample_rate,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unencodable(str(error)) from error


def _answered(answer: tuple[Sequence[int], int] | bytes) -> tuple[Any, Any]:
    if isinstance(answer, bytes):
        read = orjson.loads(answer)
        return [match["campaign_id"] for match in read["matches"]], read["total"]
    return answer


def directory_of(time: float) -> str:
    """The partition of a moment, in UTC: `dt=2026-11-20/hour=07`."""
    try:
        return datetime.fromtimestamp(time, UTC).strftime("dt=%Y-%m-%d/hour=%H")
    except (ValueError, OverflowError, OSError) as error:
        raise Unencodable(f"{time} is no moment") from error
