"""The thesis's figures, measured, as tables and plots in `docs/benchmarks.md`.

Stopped, it goes on where it was: every point is kept in `bench/.cache/results/` until an engine
changes. `--quick` takes about a minute and prints to the terminal only, unless `--write` is given.
"""

import argparse
import sys

from bench import plots, report
from bench.figures import FULL, NORMAL, QUICK, Extent, Point, figures, growth, overview
from bench.measure import Disagreement, Result
from bench.progress import Progress
from bench.results import result

_EVENTS = 100
_ENGINES = ("native", "flat")
_PEERS = {"ads-conj": ("a-tree",), "be-dense": ("a-tree",), "be-sparse": ("a-tree",)}
"""The crate a-tree is measured on conjunctions."""


def run(arguments: argparse.Namespace) -> None:
    """Measure, or read what was measured, and write the page."""
    extent = FULL if arguments.full else QUICK if arguments.quick else NORMAL
    try:
        page = sweep(extent, picture=arguments.write or not arguments.quick)
    except Disagreement as e:
        sys.exit(f"the engines disagree: {e}")
    if arguments.quick and not arguments.write:
        print(page)
        return
    path = report.DOCS / "benchmarks.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page)
    print(f"wrote {path}")
    if not plots.is_possible():
        print("without plots: they need matplotlib, pip install -e '.[bench]'", file=sys.stderr)


def sweep(extent: Extent, picture: bool) -> str:
    """The page, with or without its plots."""
    steps = [growth(extent), *figures(extent)]
    progress = _Steps(5 + sum(len(figure.points) for figure in steps))
    first = [
        (p, progress.measure(p, (*_ENGINES, *_PEERS.get(p.workload, ())))) for p in overview(extent)
    ]
    flag = {"quick": " --quick --write", "full": " --full"}.get(extent.name, "")
    parts = [report.introduction(f"python -m bench sweep{flag}"), report.overview(first)]
    for step in steps:
        measured = [progress.measure(p, _ENGINES) for p in step.points]
        parts.append(report.figure(step, measured, picture))
    progress.done()
    return "\n\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


class _Steps(Progress):
    """A bar over all the points."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._done = 0
        self._total = total

    def measure(self, point: Point, engines: tuple[str, ...]) -> list[Result]:
        results = result(point, engines, _EVENTS, self)
        self._done += 1
        return results

    def show(self, what: str, done: int, total: int) -> None:
        """The step, in the bar of the whole."""
        super().show(f"{self._done} of {self._total} points; {what}", self._done, self._total)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `sweep` on the command line."""
    command = commands.add_parser("sweep", help="the thesis's figures, into docs/benchmarks.md")
    extent = command.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a subset, in about a minute")
    extent.add_argument("--full", action="store_true", help="to a million expressions and beyond")
    command.add_argument("--write", action="store_true", help="write the page of --quick, too")
    command.set_defaults(run=run)
