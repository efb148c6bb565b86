"""Builds several engines with the same expressions and times them on the same events.

    for each engine    build all but the last expressions in bulk; insert those one by one; what the
                       engine does after a build counts as part of it
    in rounds          each engine in turn matches all events and times itself
    at the end         the answers of all engines are compared

An event's time is the median of its rounds (the first is warm-up and not counted); `match_us` are
the median and the 99th percentile of the events' times. Engines take turns by round and not by
event, so that each runs with its own data in the caches, as in production. All times are CPU times
of the thread, since wall time would include other users of the machine.

An engine with a cap gets only the first expressions, and a slow one only the first events. The
result shows both; its `ratio_to_flat` compares with a flat scan of the same expressions on the same
events in the same rounds.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from bench.index import engines
from bench.index.engines import Engine, Unavailable
from bench.index.engines.engine import Item, Maintained, Ranking
from testkit import Failed
from testkit.progress import Progress
from testkit.workloads import cache
from testkit.workloads.workload import Event, Workload

Result = dict[str, Any]

BATCH = 10_000
INSERTS = 1000
"""Expressions that are inserted one by one, but at most a tenth of all."""
_FEWEST_EVENTS = 3
SEEN = 2000
"""Other events that engines may learn from before the build. A workload with few different events
has fewer: what is measured is never among them."""


class Disagreement(Failed):
    """Two engines gave different answers."""


@dataclass
class Run:
    """One engine in a run."""

    name: str
    engine: Engine
    n: int
    build_s: float = 0.0
    inserts_ns: list[int] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    rounds: int = 1
    times: list[list[int]] = field(default_factory=list)
    top_times: list[list[int]] = field(default_factory=list)
    """Of the best ten matches, for an engine that has `top_ns`."""
    answers: list[list[int]] = field(default_factory=list)

    def build(self, batch: list[Item]) -> None:
        """Add many expressions and record the time."""
        started = time.thread_time()
        self.engine.build(batch)
        self.build_s += time.thread_time() - started

    def insert(self, items: list[Item]) -> None:
        """Add expressions one by one and record the times."""
        for item in items:
            started = time.thread_time_ns()
            self.engine.insert(item)
            self.inserts_ns.append(time.thread_time_ns() - started)

    def maintain(self) -> None:
        """What the engine does after a build."""
        if isinstance(self.engine, Maintained):
            started = time.thread_time()
            self.engine.maintain()
            self.build_s += time.thread_time() - started

    def event_us(self, count: int | None = None) -> list[float]:
        """Each event's median over the rounds."""
        return _medians(self.times, count)

    def top_us(self) -> list[float]:
        """The same for the best ten matches; empty for an engine that has no `top_ns`."""
        return _medians(self.top_times)


def measure(
    workload: Workload,
    n: int,
    events: int,
    names: Sequence[str],
    *,
    rounds: int = 5,
    seconds: float = 10.0,
    progress: Progress,
    make: Callable[..., Engine] = engines.make,
) -> list[Result]:
    """One result per engine, in the order of `names`.

    `seconds` bounds the matching time of an engine: slow ones get fewer rounds, then fewer
    events. Raises `Disagreement`.
    """
    schema = workload.schema
    all_events = workload.events(events + SEEN)
    all_events, others = all_events[:events], all_events[events:]
    seen = [event for event in others if event not in all_events]
    _items(workload, n, progress)
    runs: dict[str, Run] = {}
    skipped: dict[str, str] = {}
    for name in names:
        try:
            engine = make(name, schema, seen)
            run = Run(name, engine, n if engine.cap is None else min(n, engine.cap))
            _build(run, workload, progress)
            plan(run, all_events, rounds, seconds)
        except Unavailable as e:
            skipped[name] = str(e)
        else:
            runs[name] = run
    flats = _flats(runs, workload, all_events, progress, make)
    take_turns([*runs.values(), *flats.values()], progress)
    compare(list(runs.values()), progress)
    results: list[Result] = [{"engine": name, "skipped": why} for name, why in skipped.items()]
    results += [result_of(run, n, flats.get(run.n)) for run in runs.values()]
    return sorted(results, key=lambda result: names.index(result["engine"]))


def _build(run: Run, workload: Workload, progress: Progress) -> None:
    inserts = min(INSERTS, run.n // 10)
    items = _items(workload, run.n, progress)
    for batch in batches(items, run.n - inserts):
        progress.show(f"{run.name}: build {run.n:,}", batch[0][0], run.n)
        run.build(batch)
    run.insert(list(items))
    run.maintain()


def _items(workload: Workload, n: int, progress: Progress) -> Iterator[Item]:
    return cache.items(workload, n, lambda done, of: progress.show(f"generate {of:,}", done, of))


def batches(items: Iterator[Item], count: int) -> Iterator[list[Item]]:
    """Lists of items, `count` in total, so that reading them is not timed."""
    while count > 0:
        batch = list(islice(items, min(count, BATCH)))
        count -= len(batch)
        yield batch


def plan(run: Run, events: list[Event], rounds: int, seconds: float) -> None:
    """Choose the number of events and rounds that fit into the time."""
    one = max(run.engine.match_ns(events[:1])[0], 1) / 1e9
    run.events = events[: max(_FEWEST_EVENTS, int(seconds / one))]
    run.rounds = max(1, min(rounds, int(seconds / (one * len(run.events)))))


def _flats(
    runs: dict[str, Run],
    workload: Workload,
    events: list[Event],
    progress: Progress,
    make: Callable[..., Engine],
) -> dict[int, Run]:
    """Flat scans by number of expressions: the requested one, and one per cap."""
    if "flat" not in runs:
        return {}
    flat = runs["flat"]
    flats = {}
    for n in {run.n for run in runs.values()} - {flat.n}:
        flats[n] = Run("flat", make("flat", workload.schema), n)
        _build(flats[n], workload, progress)
        flats[n].events, flats[n].rounds = events, flat.rounds
    return flats | {flat.n: flat}


def take_turns(runs: list[Run], progress: Progress) -> None:
    """Let each engine match its events, round by round."""
    unique = list({id(run): run for run in runs}.values())
    for run in unique:
        if run.rounds > 1:
            run.engine.match_ns(run.events)  # warm-up
    most = max((run.rounds for run in unique), default=0)
    for turn in range(most):
        for run in unique:
            if turn < run.rounds:
                progress.show(f"{run.name}: match, round {turn + 1} of {most}", turn, most)
                run.times.append(run.engine.match_ns(run.events))
                if isinstance(run.engine, Ranking):
                    run.top_times.append(run.engine.top_ns(run.events))


def compare(runs: list[Run], progress: Progress) -> None:
    """Compare each pair of engines on the events and expressions that both had; raises
    `Disagreement`."""
    for run in runs:
        progress.show(f"{run.name}: answers", 0, 1)
        run.answers = run.engine.answers(run.events)
    progress.done()
    for place, one in enumerate(runs):
        for other in runs[place + 1 :]:
            n = min(one.n, other.n)
            for number, (mine, theirs) in enumerate(zip(one.answers, other.answers, strict=False)):
                a = mine if one.n == n else [id for id in mine if id < n]
                b = theirs if other.n == n else [id for id in theirs if id < n]
                if a != b:
                    raise Disagreement(_difference(one, other, number, a, b))


def _difference(one: Run, other: Run, number: int, a: list[int], b: list[int]) -> str:
    odd, where = sorted(set(a) ^ set(b)), f"the engines disagree: event {number}"
    if not odd:
        return f"{where}: {one.name} and {other.name} give the same ids in another order"
    has, has_not = (one, other) if odd[0] in set(a) else (other, one)
    return (
        f"{where}: expression {odd[0]} matches for {has.name} and not for {has_not.name} "
        f"({len(odd)} ids differ)\nevent: {one.events[number]}"
    )


def result_of(run: Run, n: int, flat: Run | None) -> Result:
    """The result of an engine that should have had `n` expressions."""
    times = run.event_us()
    median = statistics.median(times)
    size = run.engine.bytes_()
    result: Result = {
        "engine": run.name,
        "n": run.n,
        "build_s": round(run.build_s, 3),
        "insert_us_median": _round(statistics.median(run.inserts_ns) / 1000) if run.n > 9 else None,
        "insert_us_p99": _round(_p99(run.inserts_ns) / 1000) if run.n > 9 else None,
        "bytes_per_expression": None if size is None else round(size / run.n, 1),
        "match_us_median": _round(median),
        "match_us_p99": _round(_p99(times)),
        "matches_per_event": round(statistics.fmean(map(len, run.answers)), 1),
        "ratio_to_flat": None,
        "top_us_median": _round(statistics.median(top)) if (top := run.top_us()) else None,
        "events": len(run.events),
        "rounds": run.rounds,
        "capped": run.n < n,
    }
    if flat is not None:
        result["ratio_to_flat"] = _round(statistics.median(flat.event_us(len(times))) / median)
    return result


def _medians(rounds: list[list[int]], count: int | None = None) -> list[float]:
    by_event = zip(*rounds, strict=True)
    return [statistics.median(times) / 1000 for times in islice(by_event, count)]


def _p99(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]


def _round(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")
