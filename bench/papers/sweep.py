"""Measures the thesis's figures and writes tables and plots to `docs/benchmarks.md`.

An interrupted sweep continues where it stopped: every point is kept in `bench/.cache/results/`
until an engine changes. `--quick` takes about a minute and only prints, unless `--write` is given.
"""

import argparse
import sys

from bench.index import ablation, growth
from bench.index.measure import Result
from bench.papers import plots, report
from bench.papers.figures import FULL, NORMAL, QUICK, Extent, Point, figures, overview, peer
from bench.papers.results import result
from bench.papers.targets import targets
from testkit.progress import Progress
from testkit.workloads import make

_EVENTS = 100
_ENGINES = ("native", "flat")
_ABLATION_TEXT = """\
Each variant is the native core with one choice turned off, with the same expressions in the same
run; all give the same answers. Its knowledge about the traffic comes from 2,000 other events: as
statistics, as the core's own samples, or not at all."""


def run(arguments: argparse.Namespace) -> None:
    """Measure, or reuse results, and write the page."""
    extent = FULL if arguments.full else QUICK if arguments.quick else NORMAL
    page = sweep(extent, picture=arguments.write or not arguments.quick)
    if arguments.quick and not arguments.write:
        print(page)
        return
    path = report.DOCS / "benchmarks.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page)
    print(f"wrote {path}")
    if not plots.is_possible():
        print("no plots without matplotlib: pip install -e '.[bench]'", file=sys.stderr)


def sweep(extent: Extent, picture: bool) -> str:
    """The page, with or without its plots."""
    steps = figures(extent)
    first, others = overview(extent), peer(extent)
    points = sum(len(figure.points) for figure in steps)
    progress = _Steps(len(first) + len(others) + 1 + len(_ablated(extent)) + points)
    measured = [(point, progress.measure(point, _ENGINES)) for point in first]
    beside = [(point, progress.measure(point, (*_ENGINES, "a-tree"))) for point in others]
    flag = {"quick": " --quick --write", "full": " --full"}.get(extent.name, "")
    parts = [
        report.introduction(f"python -m bench sweep{flag}"),
        report.overview(measured),
        report.targets(targets(measured, beside)),
        report.peer(beside),
        _growth(extent, picture, progress),
        _ablation(extent, picture, progress),
    ]
    for step in steps:
        results = [progress.measure(p, _ENGINES) for p in step.points]
        parts.append(report.figure(step, results, picture))
    progress.done()
    return "\n\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def _growth(extent: Extent, picture: bool, progress: "_Steps") -> str:
    """Up to the extent's size, and further if `growth` has results."""
    found = growth.growth(extent.growth, progress)
    progress.step()
    if extent.sparing:
        found = {n: results for n, results in found.items() if n <= extent.growth}
    shown = report.figure(growth.figure(list(found)), list(found.values()), picture)
    command = f"`python -m bench growth --to {max(found)}` measures this alone."
    return f"{shown}\n\n{growth.meaning(found)} {command}"


def _ablated(extent: Extent) -> tuple[str, ...]:
    return ("ads",) if extent.sparing else ("ads", "abe")


def _ablation(extent: Extent, picture: bool, progress: "_Steps") -> str:
    parts = ["## What each choice brings", _ABLATION_TEXT]
    for name in _ablated(extent):
        results = ablation.ablation(make(name), extent.n, _EVENTS, progress)
        progress.step()
        parts.append(report.ablation(name, extent.n, results, picture))
    command = f"`python -m bench ablation --workload ads --n {extent.n}` measures this alone."
    return "\n\n".join([*parts, command])


class _Steps(Progress):
    """Progress over all points."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._done = 0
        self._total = total

    def measure(self, point: Point, engines: tuple[str, ...]) -> list[Result]:
        results = result(point, engines, _EVENTS, self)
        self.step()
        return results

    def step(self) -> None:
        """Count a finished point."""
        self._done += 1

    def show(self, what: str, done: int, total: int) -> None:
        """Show the current step within the whole sweep."""
        super().show(f"{self._done} of {self._total} points; {what}", self._done, self._total)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `sweep` on the command line."""
    command = commands.add_parser("sweep", help="write the thesis's figures to docs/benchmarks.md")
    extent = command.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true", help="a subset, in about a minute")
    extent.add_argument("--full", action="store_true", help="up to a million expressions and more")
    command.add_argument("--write", action="store_true", help="write the page with --quick, too")
    command.set_defaults(run=run)
