"""The latencies and errors of requests, by second and kind.

Each Locust process writes a file with one line per second; the reader adds them up. (Locust's own
statistics have whole milliseconds, and a match takes less.)

    {"at": 1790000000, "kinds": {"match": {"times": [0.000312, 0.0123], "errors": {"503": 1}}}}
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import orjson


@dataclass(slots=True)
class Latencies:
    """Requests of one kind: the seconds of each, including errors, and the errors by status."""

    times: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Latencies") -> None:
        self.times += other.times
        self.errors.update(other.errors)


Kinds = dict[str, Latencies]


def total(several: Iterable[Latencies]) -> Latencies:
    """All of them together."""
    found = Latencies()
    for each in several:
        found.add(each)
    return found


class Recorder:
    """Records the requests of one process; seconds that are not over are kept in memory."""

    def __init__(self) -> None:
        self._seconds: dict[int, Kinds] = {}

    def record(self, kind: str, at: float, seconds: float, error: str | None = None) -> None:
        """Record a request that ended at this time (epoch seconds)."""
        latencies = self._seconds.setdefault(int(at), {}).setdefault(kind, Latencies())
        latencies.times.append(round(seconds, 6))
        if error is not None:
            latencies.errors[error] += 1

    def write(self, file: BinaryIO, until: float) -> None:
        """Write the seconds that were over at this time."""
        for at in sorted(second for second in self._seconds if second < int(until)):
            file.write(orjson.dumps({"at": at, "kinds": self._seconds.pop(at)}) + b"\n")
        file.flush()


def read(paths: Iterable[Path]) -> dict[int, Kinds]:
    """The files of all processes, added up by second."""
    seconds: dict[int, Kinds] = {}
    for path in paths:
        written = path.read_bytes()
        for line in written[: written.rfind(b"\n") + 1].splitlines():  # the last may be incomplete
            content = orjson.loads(line)
            kinds = seconds.setdefault(content["at"], {})
            for kind, latencies in content["kinds"].items():
                kinds.setdefault(kind, Latencies()).add(Latencies(**latencies))
    return seconds
