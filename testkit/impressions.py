"""Days of impressions of the ads workload, in files as the service writes them.

    python -m bench impressions --rows 200000 --out DIR --days 7

The requests have the attributes and values of the workload. To generate millions in seconds,
thousands of values per attribute and thousands of sets of attributes are drawn in advance; each row
combines some of them.

Days differ: the number of rows is the requested one times a factor around one, and popularity
shifts: each attribute and each value gets its own factor each day. Both factors are log-normal,
with the standard deviations `VOLUME` and `TASTE`. `matches` is empty, since no index is involved.
"""

from bisect import bisect
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from heapq import nsmallest
from itertools import accumulate
from math import exp, log, pi, sin
from pathlib import Path
from random import Random

import orjson

from testkit.workloads.ads_attributes import ATTRIBUTES, COUNT, AdsAttribute

VOLUME = 0.10
TASTE = 0.15

EVENT_SIZE = 20
TEMPLATES = 8192
DRAWS = 8192
RARE_DRAWS = 1024
_NAMED = 30
"""The first attributes, which are common; for the others fewer values are drawn."""

_PART_ROWS = 50_000


def write_day(
    out: Path, day: date, rows: int, seed: int = 1, sample_rate: float = 1.0, even: bool = False
) -> int:
    """Write a day and return its number of rows; with `even` it is exactly `rows`."""
    rng = Random(f"impressions {seed} {day}")
    count = rows if even else round(rows * exp(rng.gauss(0.0, VOLUME)))
    line = _lines(rng, sample_rate)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    hourly = [1 - 0.6 * sin(2 * pi * (hour + 3) / 24) for hour in range(24)]
    ends = [round(count * end / sum(hourly)) for end in accumulate(hourly)]
    for hour, (first, end) in enumerate(zip([0, *ends], ends, strict=False)):
        folder = out / f"dt={day}" / f"hour={hour:02}"
        folder.mkdir(parents=True, exist_ok=True)
        step = 3600 / max(1, end - first)
        builtins = b'{"now.hour":%d,"now.weekday":%d}' % (hour, day.isoweekday())
        for part, start in enumerate(range(first, end, _PART_ROWS)):
            places = range(start, min(start + _PART_ROWS, end))
            path = folder / f"part-w1-{seed}-{part}.jsonl"
            with path.open("wb") as file:
                file.writelines(
                    line(midnight + 3600 * hour + step * (place - first), builtins)
                    for place in places
                )
    return count


def _lines(rng: Random, sample_rate: float) -> Callable[[float, bytes], bytes]:
    """A function that makes a line from a time and the service's built-in attributes."""
    random, bits = rng.random, rng.getrandbits
    values = [_fragments(rng, place, each) for place, each in enumerate(ATTRIBUTES)]
    templates = [[values[place] for place in some] for some in _sets(rng)]
    tail = b',"matches":[],"epoch":"bench","rev":1,"sample_rate":%s}\n' % orjson.dumps(sample_rate)

    def line(moment: float, builtins: bytes) -> bytes:
        chosen = templates[int(random() * TEMPLATES)]
        attributes = b",".join([some[int(random() * len(some))] for some in chosen])
        return (
            b'{"time":%.3f,"request_id":"%016x","route":"match","attributes":{%s},"builtins":%s%s'
            % (moment, bits(64), attributes, builtins, tail)
        )

    return line


def _sets(rng: Random) -> Iterator[list[int]]:
    """Sets of attributes of requests, as positions."""
    weights = [exp(rng.gauss(0.0, TASTE)) / (place + 1) for place in range(COUNT)]
    for _ in range(TEMPLATES):
        waits = ((-log(1.0 - rng.random()) / weights[place], place) for place in range(COUNT))
        yield [place for _, place in nsmallest(EVENT_SIZE, waits)]


def _fragments(rng: Random, place: int, attribute: AdsAttribute) -> list[bytes]:
    """The attribute with possible values, as JSON fragments."""
    name = orjson.dumps(attribute.name) + b":"
    weights = (
        exp(rng.gauss(0.0, TASTE)) * (rank + 1) ** -attribute.alpha
        for rank in range(attribute.values)
    )
    cumulative = list(accumulate(weights))

    def draw() -> object:
        rank = min(bisect(cumulative, rng.random() * cumulative[-1]), attribute.values - 1)
        return attribute.value(rank)

    def value() -> object:
        if attribute.type.endswith("list"):
            return list(dict.fromkeys(draw() for _ in range(int(rng.random() * 12))))
        return draw()

    return [name + orjson.dumps(value()) for _ in range(DRAWS if place < _NAMED else RARE_DRAWS)]
