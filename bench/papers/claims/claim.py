"""A claim: a sentence of a paper, and how our figure for it is taken from the measurements.

A claim compares times (or bytes, or build times) of two engines on one workload as the papers do:
the change in percent against the rival, or how many times faster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.index.measure import Result
from bench.papers.drift import Drift, Recovery
from bench.papers.false_positives import Rate
from bench.papers.league import Results
from bench.papers.parameters import Swept


@dataclass(frozen=True)
class Evidence:
    """Everything that was measured. `runs` are the workloads of the league by name, and the points
    of the sweeps by workload, parameter and value: `be-dense-matching=0.5`."""

    runs: dict[str, Results] = field(default_factory=dict)
    drifts: Sequence[Drift] = ()
    recoveries: Sequence[Recovery] = ()
    rates: Sequence[Rate] = ()


def points(swept: Swept) -> dict[str, Results]:
    """The points of sweeps, by name."""
    found = {}
    for figure, all_results in swept:
        for point, results in zip(figure.points, all_results, strict=True):
            name = f"{figure.slug.removeprefix('papers-')}={point.x:g}"
            found[name] = {result["engine"]: result for result in results}
    return found


Figure = Callable[[Evidence], float]
"""Our figure. Raises `KeyError` where it was not measured."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper. `ours` gives our figure, `holds` judges it."""

    claim: str
    theirs: str
    ours: Figure
    holds: Callable[[float], bool]
    unit: str = "%"
    why: str = ""
    """The reason, where it does not hold."""


def value(evidence: Evidence, run: str, engine: str, column: str = "match_us_median") -> float:
    """One figure of a run; `KeyError` if the engine was skipped."""
    result: Result = evidence.runs[run][engine]
    return float(result[column])


def change(run: str, engine: str, *rivals: str, column: str = "match_us_median") -> Figure:
    """The change of `engine` against the best of its rivals, in percent."""

    def ours(evidence: Evidence) -> float:
        best = min(value(evidence, run, rival, column) for rival in rivals)
        return round(100 * (value(evidence, run, engine, column) / best - 1), 1)

    return ours


def times(run: str, engine: str, rival: str) -> Figure:
    """How many times faster `engine` is than `rival`."""

    def ours(evidence: Evidence) -> float:
        ratio = value(evidence, run, rival) / value(evidence, run, engine)
        return float(f"{ratio:.3g}")

    return ours


def growth(engine: str, before: str, after: str, column: str = "match_us_median") -> Figure:
    """The change of one engine from one run to another, in percent."""

    def ours(evidence: Evidence) -> float:
        old, new = (value(evidence, run, engine, column) for run in (before, after))
        return round(100 * (new / old - 1), 1)

    return ours


def saves(percent: float) -> Callable[[float], bool]:
    """At least half of the saving."""
    return lambda ours: ours <= -percent / 2


def about(percent: float) -> Callable[[float], bool]:
    """Equal but for so many percent."""
    return lambda ours: abs(ours) <= percent


def falls(ours: float) -> bool:
    """Less than the rival, or than before."""
    return ours < 0


def gains(least: float) -> Callable[[float], bool]:
    """At least so many times faster."""
    return lambda ours: ours >= least
