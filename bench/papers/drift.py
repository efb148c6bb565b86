"""Churn while matching: the two drift experiments of the Propagation paper (section 6.2.3).

Step by step the oldest tenth of the subscriptions is replaced by ones of another workload:

    attributes   from the first 16 attributes to the other 16
    skew         one of the two fixed attributes gets 2 values instead of 35, in events, too

`no change` keeps the clustering that was best at the beginning; `dynamic` adapts with every change
and gets the new statistics at each step; `anew` computes the static clustering at each step.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bench.index.engines.peers import Paper
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads.be import Be
from testkit.workloads.propagation import Fixed
from testkit.workloads.workload import Event

STEPS = 10
_EVENTS, _SEEN, _ROUNDS = 60, 1000, 3
_NAMES = ("no change", "dynamic", "anew")


@dataclass(frozen=True)
class Drift:
    """The time of an event after each step, by strategy."""

    title: str
    theirs: str
    us: dict[str, list[float]]


def drifts(n: int, progress: Progress) -> list[Drift]:
    """Both experiments."""
    halves = Fixed(fixed=1, free=4, attributes=16), Fixed(fixed=1, free=4, attributes=16, first=16)
    values = Fixed(), Fixed(skewed=True)
    return [
        Drift(
            "The attributes of interest change",
            "200 events/s without change, 350 dynamic at the end",
            _run(n, *halves, progress),
        ),
        Drift(
            "A fixed attribute becomes skewed",
            "20 % less throughput without change, about none lost by dynamic",
            _run(n, *values, progress),
        ),
    ]


def _run(n: int, before: Fixed, after: Fixed, progress: Progress) -> dict[str, list[float]]:
    papers = {name: _built(name, n, before) for name in _NAMES}
    us = {name: [time] for name, time in _times(papers, before.events(_EVENTS)).items()}
    new: Iterator[str] = after.expressions()
    for step in range(STEPS):
        progress.show(f"drift, step {step + 1} of {STEPS}", step, STEPS)
        changes = [
            (n * step // STEPS + place, text)
            for place, text in enumerate(islice(new, n * (step + 1) // STEPS - n * step // STEPS))
        ]
        for name, paper in papers.items():
            for id, text in changes:
                paper.remove(id)
                paper.insert((n + id, text))
            if name == "no change":
                paper.stay()
            else:
                paper.maintain(_seen(after))
        for name, time in _times(papers, after.events(_EVENTS)).items():
            us[name].append(time)
    return us


def _built(name: str, n: int, workload: Fixed) -> Paper:
    engine = "propagation-dynamic" if name == "dynamic" else "propagation-static"
    paper = Paper(engine, workload.schema, _seen(workload))
    paper.build(list(enumerate(islice(workload.expressions(), n))))
    paper.maintain()
    return paper


def _seen(workload: Fixed) -> list[Event]:
    """Events that are not measured."""
    return workload.events(_EVENTS + _SEEN)[_EVENTS:]


def _times(papers: Mapping[str, Paper], events: list[Event]) -> dict[str, float]:
    """The time of an event for each, in turns, since the machine has other users."""
    rounds: dict[str, list[list[int]]] = {name: [] for name in papers}
    for _ in range(_ROUNDS):
        for name, paper in papers.items():
            rounds[name].append(paper.match_ns(events))
    return {name: _median(times) for name, times in rounds.items()}


def _median(rounds: list[list[int]]) -> float:
    medians = [statistics.median(times) for times in zip(*rounds, strict=True)]
    return float(f"{statistics.median(medians) / 1000:.4g}")


@dataclass(frozen=True)
class Recovery:
    """The time of an event while a workload becomes another one and returns."""

    title: str
    us: list[float]
    control: list[float]
    """The same for a tree that stays as it was before."""

    @property
    def ratio(self) -> float:
        """The time at the end, times that before; both are taken as multiples of the control."""
        end, before = self.us[-1] / self.control[-1], self.us[0] / self.control[0]
        return float(f"{end / before:.3g}")


def recoveries(n: int, progress: Progress) -> list[Recovery]:
    """BE-Tree's figure 21: from uniform to Zipf and back, and the other way round."""
    table_iii: dict[str, Any] = {"dimensions": 400, "cardinality": 48, "size": 7, "event_size": 15}
    uniform, zipf = (
        Be(**table_iii, matching=0.001, equality=0.3, alpha=alpha) for alpha in (0.0, 1.0)
    )
    found: list[Recovery] = []
    for title, first, second in (
        ("uniform, Zipf, uniform", uniform, zipf),
        ("Zipf, uniform, Zipf", zipf, uniform),
    ):
        progress.show(f"churn, {title}", len(found), 2)
        found.append(_there_and_back(title, n, first, second))
    return found


def _there_and_back(title: str, n: int, first: Be, second: Be) -> Recovery:
    """Every fifth of a replacement is measured; the events are half of either workload."""
    half = _EVENTS // 2
    events = first.events(half) + second.events(half)
    seen = first.events(_SEEN)[half:] + second.events(_SEEN)[half:]
    papers = {
        name: Paper("be-tree-adaptive", first.schema, seen, setting=5)
        for name in ("tree", "control")
    }
    for paper in papers.values():
        paper.build(list(enumerate(islice(first.expressions(), n))))
        paper.maintain(seen)
    times = [_times(papers, events)]
    for workload in (second, first):
        new = list(enumerate(islice(workload.expressions(), n)))
        for step in range(_FIFTHS):
            for id, text in new[n * step // _FIFTHS : n * (step + 1) // _FIFTHS]:
                papers["tree"].insert((id, text))
            papers["tree"].maintain(seen)
            times.append(_times(papers, events))
    return Recovery(title, [t["tree"] for t in times], [t["control"] for t in times])


def recovery_page(found: Sequence[Recovery], n: int) -> str:
    """A table, and whether the time comes back."""
    header = [
        "",
        "before",
        *(f"{step % _FIFTHS + 1}/5" for step in range(2 * _FIFTHS)),
        "end/before",
    ]
    rows: list[list[object]] = []
    for each in found:
        rows += [[each.title, *each.us, each.ratio], ["control: no churn", *each.control, None]]
    return "\n\n".join([_RECOVERY.format(n=n), table(header, rows)])


_FIFTHS = 5
_RECOVERY = """\
Figure 21 of the BE-Tree paper: {n:,} subscriptions are replaced by ones of another distribution,
and these by the first ones again; half of the events are of either. The tree recycles, inserts
again and explores (section 5.2). The paper: "the matching time at the end of the
transition approaches the original performance". µs per event after each fifth of a replacement. The
control is a tree without churn, measured in turns: what its time varies is the machine's."""


def drift_page(found: Sequence[Drift], n: int) -> str:
    """A table for each experiment."""
    parts = [
        f"{n:,} subscriptions, a tenth replaced at each step; µs per event after it, all "
        "strategies in turns."
    ]
    for drift in found:
        header = ["", "before", *(str(step + 1) for step in range(STEPS))]
        rows = [[name, *times] for name, times in drift.us.items()]
        last = {name: times[-1] for name, times in drift.us.items()}
        ratio = last["no change"] / last["dynamic"]
        parts += [
            f"### {drift.title}",
            table(header, rows),
            f"The paper: {drift.theirs}. At the end, dynamic is {ratio:.2f} times as fast as no "
            "change.",
        ]
    return "\n\n".join(parts)
