"""How the cost of a match grows with the number of expressions of the ads workload, to 10 million.

One index grows through all sizes; at each it is measured together with a flat scan of the same
expressions. The expressions are read in batches and not kept.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from bench.index import engines
from bench.index.engines import Unavailable
from bench.index.engines.engine import Item
from bench.index.match import complete
from bench.index.measure import (
    INSERTS,
    SEEN,
    Result,
    Run,
    batches,
    compare,
    plan,
    result_of,
    take_turns,
)
from bench.papers import report, results
from bench.papers.figures import Figure, Point
from testkit.arguments import positive
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Event, Workload

K, M = 1000, 1_000_000
SIZES = (10 * K, 30 * K, 100 * K, 300 * K, M, 3 * M, 10 * M)
WORKLOAD = "ads"
ENGINES = ("native", "flat")
EVENTS = 100


def growth(to: int, progress: Progress) -> dict[int, list[Result]]:
    """The results at each size up to `to`; results of the same binaries are reused."""
    workload = make(WORKLOAD)
    wanted = [size for size in SIZES if size <= to]
    known = known_sizes()
    if set(wanted) <= set(known):
        return known
    for size, measured in zip(wanted, _grow(workload, wanted, progress), strict=True):
        results.keep(_key(workload, size), measured)
    return known_sizes()


def known_sizes() -> dict[int, list[Result]]:
    """Earlier results of the same binaries."""
    workload = make(WORKLOAD)
    found = {size: results.kept(_key(workload, size)) for size in SIZES}
    return {size: measured for size, measured in found.items() if measured is not None}


def figure(sizes: Sequence[int]) -> Figure:
    """The figure with these sizes."""
    points = tuple(Point(n, WORKLOAD, n) for n in sizes)
    return Figure("growth", "How the cost grows", "expressions", "", points, log_x=True)


def meaning(measured: dict[int, list[Result]]) -> str:
    """The figure described in words."""
    first, last = min(measured), max(measured)
    native = {n: next(r for r in measured[n] if r["engine"] == "native") for n in (first, last)}
    time, matches = (_power(native, field) for field in ("match_us_median", "matches_per_event"))
    per_match = [
        1000 * native[n]["match_us_median"] / native[n]["matches_per_event"] for n in (first, last)
    ]
    text = (
        f"From {first:,} to {last:,} expressions the matches of an event grow as n^{matches:.2f}: "
        "they are a share of all expressions, so no engine that returns all of them can be "
        f"better than linear. The time grows as n^{time:.2f}: {per_match[0]:.0f} ns per match at "
        "first, where finding the event's lists dominates, and "
        f"{per_match[1]:.0f} ns at the end, where every match is a memory access. Expressions "
        "that do not match cost almost nothing."
    )
    slower = [result["ratio_to_flat"] for result in native.values()]
    if all(slower):
        text += (
            f" A flat scan takes {slower[0]} times as long at {first:,}, {slower[1]} at {last:,}."
        )
    return text


def _power(native: dict[int, Result], field: str) -> float:
    (low, first), (high, last) = native.items()
    return math.log(last[field] / first[field]) / math.log(high / low)


def _key(workload: Workload, size: int) -> list[object]:
    return ["growth", workload.key(), size, list(ENGINES), EVENTS]


def _grow(workload: Workload, sizes: Sequence[int], progress: Progress) -> Iterator[list[Result]]:
    events = workload.events(EVENTS + SEEN)
    events, seen = events[:EVENTS], events[EVENTS:]
    runs = []
    for name in ENGINES:
        try:
            runs.append(Run(name, engines.make(name, workload.schema, seen), 0))
        except Unavailable as e:
            print(f"without {name}: {e}", file=sys.stderr)
    items: Iterator[Item] = enumerate(workload.expressions())
    size = 0
    for wanted in sizes:
        inserts = min(INSERTS, wanted // 10)
        for batch in batches(items, wanted - inserts - size):
            progress.show(f"grow to {wanted:,}", batch[0][0], sizes[-1])
            for run in runs:
                run.build(batch)
        last = list(islice(items, inserts))
        size = wanted
        for run in runs:
            run.inserts_ns.clear()
            run.insert(last)
        yield _measure(runs, size, events, progress)


def _measure(runs: list[Run], n: int, events: list[Event], progress: Progress) -> list[Result]:
    for run in runs:
        run.n = n
        run.times.clear()
        plan(run, events, rounds=5, seconds=10.0)
    take_turns(runs, progress)
    compare(runs, progress)
    flat = next((run for run in runs if run.name == "flat"), None)
    return [result_of(run, n, flat) for run in runs]


def run(arguments: argparse.Namespace) -> None:
    """Measure and print, and draw the plot with `--draw`."""
    measured = growth(arguments.to, Progress())
    measured = {n: measured[n] for n in measured if n <= arguments.to}
    if arguments.json:
        for one in measured.values():
            for result in one:
                print(json.dumps(complete(result, WORKLOAD)))
        return
    shown = figure(list(measured))
    print(report.figure(shown, list(measured.values()), picture=arguments.draw))
    print(f"\n{meaning(measured)}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `growth` on the command line."""
    command = commands.add_parser("growth", help="time per event by number of expressions, on ads")
    command.add_argument("--to", type=_size, default=M, help="largest number of expressions")
    command.add_argument("--draw", action="store_true", help="draw the plot in docs/benchmarks")
    command.add_argument("--json", action="store_true", help="print JSON objects")
    command.set_defaults(run=run)


def _size(text: str) -> int:
    size = positive(text)
    if size < SIZES[0]:
        raise argparse.ArgumentTypeError(f"expected {SIZES[0]} or more, not {text}")
    return size
