"""Latency histograms: the number of requests in each second, their latencies and errors.

Each Locust process writes a file with one line per second; the reader adds them up. Buckets grow by
2.2%, so percentiles are accurate to about 1%; the longest time is exact. (Locust's own statistics
have whole milliseconds, and a match takes less.)

    {"at": 1790000000, "kinds": {"match": {"buckets": {"312": 41, "313": 8}, "longest": 0.0123,
                                           "errors": {"503": 1}}}}
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

PER_OCTAVE = 32
_MICRO = 1e-6


def bucket_of(seconds: float) -> int:
    """The bucket of a time; everything below a microsecond is in the first."""
    return int(PER_OCTAVE * math.log2(max(seconds / _MICRO, 1.0)))


def middle_of(bucket: int) -> float:
    """The representative time of a bucket, in seconds."""
    return _MICRO * float(2.0 ** ((bucket + 0.5) / PER_OCTAVE))


@dataclass(slots=True)
class Histogram:
    """Requests of one kind: times by bucket, the longest time, and errors by status."""

    buckets: Counter[int] = field(default_factory=Counter)
    longest: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """All requests, including errors."""
        return self.buckets.total()

    @property
    def wrong(self) -> int:
        return self.errors.total()

    def add(self, other: "Histogram") -> None:
        self.buckets.update(other.buckets)
        self.errors.update(other.errors)
        self.longest = max(self.longest, other.longest)

    def percentile(self, share: float) -> float | None:
        """The time in seconds that this share of the requests did not exceed; 1 is the longest."""
        total = self.count
        if not total:
            return None
        if share >= 1:
            return self.longest
        wanted, seen = share * total, 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen > wanted:
                return min(middle_of(bucket), self.longest)
        return self.longest

    def to_json(self) -> dict[str, Any]:
        return {"buckets": self.buckets, "longest": self.longest, "errors": self.errors}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Histogram":
        buckets = Counter({int(bucket): count for bucket, count in content["buckets"].items()})
        return cls(buckets, content["longest"], Counter(content["errors"]))


Kinds = dict[str, Histogram]


def total(histograms: Iterable[Histogram]) -> Histogram:
    """The sum of histograms."""
    found = Histogram()
    for each in histograms:
        found.add(each)
    return found


class Recorder:
    """Records the requests of one process; seconds that are not over are kept in memory."""

    def __init__(self) -> None:
        self._seconds: dict[int, Kinds] = {}

    def record(self, kind: str, at: float, seconds: float, error: str | None = None) -> None:
        """Record a request that ended at this time (epoch seconds)."""
        histogram = self._seconds.setdefault(int(at), {}).setdefault(kind, Histogram())
        histogram.buckets[bucket_of(seconds)] += 1
        histogram.longest = max(histogram.longest, seconds)
        if error is not None:
            histogram.errors[error] += 1

    def write(self, file: TextIO, until: float) -> None:
        """Write the seconds that were over at this time."""
        for at in sorted(second for second in self._seconds if second < int(until)):
            kinds = {kind: each.to_json() for kind, each in self._seconds.pop(at).items()}
            file.write(json.dumps({"at": at, "kinds": kinds}) + "\n")
        file.flush()


def read(paths: Iterable[Path]) -> dict[int, Kinds]:
    """The files of all processes, added up by second."""
    seconds: dict[int, Kinds] = {}
    for path in paths:
        for line in _lines(path):
            kinds = seconds.setdefault(line["at"], {})
            for kind, content in line["kinds"].items():
                kinds.setdefault(kind, Histogram()).add(Histogram.from_json(content))
    return seconds


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The complete lines: the last one may still be incomplete."""
    text = path.read_text()
    for line in text[: text.rfind("\n") + 1].splitlines():
        yield json.loads(line)
