"""One row of the log: what a request sent, and its answer."""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

Object = Mapping[str, object]

_ROW = 600
"""The bytes of a row without its attributes and matches, roughly."""

_INFLATED = 6
"""How many times more memory the attributes take than their JSON, roughly."""


class Unencodable(ValueError):
    """A row that cannot be written as JSON, or whose answer is not one."""


SentIds = Mapping[str, object]
"""`client_request_id`, `auction_id` and `imp_id`, where the client sent them."""

NO_IDS: SentIds = {}


class Impression(NamedTuple):
    """A request and its answer, as cheap to hand over as possible.

    `answer` is the JSON that was sent, with `matches` and perhaps the `total`; the writing thread
    reads it.
    `size` is the length of the request's body, if it is known: it saves measuring the attributes.
    """

    time: float
    route: str
    request_id: str
    attributes: Object
    builtins: Object
    answer: bytes
    epoch: str
    rev: int
    sample_rate: float
    size: int = 0
    sent_ids: SentIds = NO_IDS


def weight_of(row: Impression) -> int:
    """The bytes that a row takes in memory, roughly; well below a microsecond if the size is known,
    else a few."""
    weight = _ROW + len(row.answer)
    if row.size:
        return weight + _INFLATED * row.size
    for value in row.attributes.values():
        # A list of strings may weigh more than this; the size of the body limits its strings.
        weight += 64 + (64 * len(value) if isinstance(value, list) else sys.getsizeof(value))
    return weight


def encode(row: Impression, permits: Callable[[str], bool]) -> bytes:
    """The row as one line of JSON, with only those attributes that may be logged."""
    try:
        answer = orjson.loads(row.answer)
        total = {"total": answer["total"]} if "total" in answer else {}
        return orjson.dumps(
            {
                "time": row.time,
                "request_id": row.request_id,
                **row.sent_ids,
                "route": row.route,
                "attributes": {
                    name: value
                    for name, value in row.attributes.items()
                    if value is not None and permits(name)
                },
                "builtins": row.builtins,
                "matches": [match["campaign_id"] for match in answer["matches"]],
                **total,
                "epoch": row.epoch,
                "rev": row.rev,
                "sample_rate": row.sample_rate,
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
    except (ValueError, TypeError, KeyError) as error:
        raise Unencodable(str(error)) from error


def directory_of(time: float) -> str:
    """The partition of a time, in UTC: `dt=2026-11-20/hour=07`."""
    try:
        return datetime.fromtimestamp(time, UTC).strftime("dt=%Y-%m-%d/hour=%H")
    except (ValueError, OverflowError, OSError) as error:
        raise Unencodable(f"{time} is not a valid time") from error
