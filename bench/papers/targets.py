"""The targets of the native core, and whether the measured figures meet them."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.index.measure import Result
from bench.papers.figures import THESIS, Point
from index import Index
from testkit.workloads import make

RATIOS = {"ads": 150, "ads-conj": 600, "abe": 110, "be-dense": 60, "be-sparse": 150}
"""Times faster than a flat scan, at the thesis's numbers of expressions."""
PEER_RATIO, PEER_SIZE = 1000, 100_000
BYTES = {"ads": 120}
BUILD_US = {"ads": 10}
INSERT_US = {"ads": 5, "abe": 20}
CALL_US = 5
_CALLS, _ROUNDS = 200, 21

Measured = Sequence[tuple[Point, list[Result]]]


@dataclass(frozen=True)
class Target:
    """A figure with its lower or upper bound."""

    what: str
    got: float
    wanted: float
    at_least: bool

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.got >= self.wanted if self.at_least else self.got <= self.wanted


def targets(workloads: Measured, peer: Measured) -> list[Target]:
    """All targets for which there are results."""
    found = []
    for point, results in workloads:
        native = _of(results, "native")
        if native is None or point.n != THESIS[point.workload]:
            continue
        name, where = point.workload, f"{point.workload}, {point.n:,}"
        if (ratio := native["ratio_to_flat"]) is not None:
            wanted = RATIOS[name]
            found.append(Target(f"{where}: times faster than flat", ratio, wanted, True))
        if name in BYTES:
            got = native["bytes_per_expression"]
            found.append(Target(f"{where}: bytes per expression", got, BYTES[name], False))
        if name in BUILD_US:
            got = round(native["build_s"] * 1e6 / point.n, 2)
            found.append(Target(f"{where}: build, µs per expression", got, BUILD_US[name], False))
        if name in INSERT_US:
            got = native["insert_us_median"]
            found.append(Target(f"{where}: insert, µs, median", got, INSERT_US[name], False))
    for point, results in peer:
        native, other = _of(results, "native"), _of(results, "a-tree")
        if point.n == PEER_SIZE and native and other:
            what = f"{point.workload}, {point.n:,}: times faster than a-tree"
            found.append(Target(what, times_faster(native, other), PEER_RATIO, True))
    what = "a whole match() of a dict of 20 attributes on an almost empty index, µs"
    found.append(Target(what, _call_us(), CALL_US, False))
    return found


def times_faster(one: Result, other: Result) -> float:
    """The time of `other` as a multiple of the time of `one`."""
    ratio = other["match_us_median"] / one["match_us_median"]
    return float(f"{ratio:.4g}")


def _of(results: list[Result], engine: str) -> Result | None:
    found = (r for r in results if r["engine"] == engine and "skipped" not in r)
    return next(found, None)


def _call_us() -> float:
    """Median time of a whole call of `Index.match`."""
    workload = make("ads")
    index = Index(workload.schema, engine="native")
    index.insert(1, "country = 'US' and user.age >= 18")
    events = workload.events(_CALLS)
    times = []
    for _ in range(_ROUNDS):
        started = time.thread_time_ns()
        for event in events:
            index.match(event)
        times.append((time.thread_time_ns() - started) / len(events))
    return float(f"{statistics.median(times) / 1000:.3g}")
