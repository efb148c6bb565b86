"""The sampled requests of a statistics document: a uniform sample, for replay and forecast.

It is gzip-compressed NDJSON, with a row for each request:

    {"attributes": {"country": "US"}, "builtins": {"now.hour": 7, "now.weekday": 1},
     "weight": 2.0, "day": "2026-11-16"}

`weight` is the number of requests that the row of the log represents. A hash of their ids decides
which requests are sampled, so the same day gives the same sample, byte for byte.
"""

import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from campaigns.errors import FieldProblem, InvalidFields

LEVEL = 6
MOST_BYTES = 512 * 1024 * 1024
"""The largest unpacked sample."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """One request: its attributes as JSON, ready for the index, and the built-in attributes."""

    attributes: bytes
    builtins: dict[str, Any]
    weight: float
    day: str


def pack(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A sample of these rows; the same rows in the same order give the same bytes."""
    lines = b"".join(
        orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE) for row in rows
    )
    return gzip.compress(lines, LEVEL, mtime=0)


def unpack(content: bytes) -> list[Sampled]:
    """The rows of a sample, or `InvalidFields`."""
    try:
        unpacker = zlib.decompressobj(wbits=31)
        lines = unpacker.decompress(content, MOST_BYTES)
        if not unpacker.eof:
            raise ValueError("it is truncated or too large")
        return [_row(orjson.loads(line)) for line in lines.splitlines()]
    except (ValueError, TypeError, KeyError, zlib.error) as error:
        detail = f"not a sample: {error}"
        raise InvalidFields(FieldProblem("/sample", "statistics.sample", detail)) from None


def _row(row: dict[str, Any]) -> Sampled:
    weight = float(row["weight"])
    if not 0 < weight < float("inf"):
        raise ValueError(f"{weight} is not a weight")
    return Sampled(orjson.dumps(row["attributes"]), row["builtins"], weight, str(row["day"]))
