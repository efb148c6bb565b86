"""Visibility times, computed from the timestamps that the processes recorded.

A write is visible when the last worker has it. Two intervals end there. The main one starts at
Postgres's commit timestamp, just before the commit is durable. The other starts when the writer
gets its acknowledgement. A busy writer gets that late, often after the workers have the write, so
this interval can be negative and looks better than it is.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from testkit import Failed

Arrivals = Sequence[tuple[int, int]]
"""(rev, time), both ascending: everything up to the rev is visible from that time on."""

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


class NeverVisible(Failed):
    """A worker never saw a committed rev."""

    def __init__(self, rev: int, worker: int) -> None:
        super().__init__(f"rev {rev} never became visible in worker {worker}")
        self.rev = rev
        self.worker = worker


def visible_at(revs: Iterable[int], workers: Sequence[Arrivals]) -> dict[int, int]:
    """When each rev was visible in every worker; raises `NeverVisible`."""
    found = dict.fromkeys(revs, 0)
    for number, arrivals in enumerate(workers):
        reached = [rev for rev, _ in arrivals]
        for rev, latest in found.items():
            place = bisect_left(reached, rev)
            if place == len(reached):
                raise NeverVisible(rev, number)
            found[rev] = max(latest, arrivals[place][1])
    return found


def spans(begins: Mapping[int, int], ends: Mapping[int, int]) -> list[float]:
    """Milliseconds from begin to end, by the same keys."""
    return [(ends[key] - begin) / 1e6 for key, begin in begins.items()]


def figures(milliseconds: Sequence[float], prefix: str = "") -> dict[str, float]:
    """The percentiles, by name."""
    ordered = sorted(milliseconds)
    last = len(ordered) - 1
    return {
        f"{prefix}{name}_ms": round(ordered[min(last, int(share * len(ordered)))], 2)
        for name, share in PERCENTILES.items()
    }
