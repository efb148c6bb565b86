"""How the cost of a match grows with the number of expressions of the ads workload, to 10 million:
of all matches and of the best ten, compared with a flat scan of the same expressions."""

import argparse
import json
import math
from collections.abc import Sequence

from bench.index.match import complete
from bench.index.measure import Result
from bench.papers import report, results
from bench.papers.figures import Figure, Point
from testkit.arguments import positive
from testkit.progress import Progress

K, M = 1000, 1_000_000
SIZES = (10 * K, 30 * K, 100 * K, 300 * K, M, 3 * M, 10 * M)
WORKLOAD = "ads"
ENGINES = ("native", "flat")
EVENTS = 100


def growth(to: int, progress: Progress) -> dict[int, list[Result]]:
    """The results at each size up to `to`, and at larger ones that were measured before."""
    return {
        point.n: results.result(point, ENGINES, EVENTS, progress)
        for point in figure(SIZES).points
        if point.n <= to or results.is_known(point, ENGINES, EVENTS)
    }


def figure(sizes: Sequence[int]) -> Figure:
    """The figure with these sizes."""
    points = tuple(Point(n, WORKLOAD, n) for n in sizes)
    title = "How the cost grows"
    return Figure("growth", title, "expressions", "", points, log_x=True, shows_best=True)


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
    best = [result["top_us_median"] for result in native.values()]
    if all(best):
        text += (
            f" The best ten take {best[0]} µs at {first:,} and {best[1]} µs at {last:,}: "
            f"{best[1] / best[0]:.1f} times."
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
