"""Runs the papers' engines on the papers' workloads and writes `docs/papers.md`.

An interrupted run continues where it stopped: every workload is kept in `bench/.cache/results/`
until an engine changes. `--quick` takes about two minutes and only prints, unless `--write` is
given.
"""

import argparse
import os
from datetime import UTC, datetime

from bench.papers.claims.claim import Evidence, points
from bench.papers.claims.page import claims_page
from bench.papers.drift import drift_page, drifts, recoveries, recovery_page
from bench.papers.false_positives import false_positives, false_positives_page
from bench.papers.java_peers import peers
from bench.papers.league import league, league_page
from bench.papers.parameters import parameters_page, sweeps
from bench.papers.report import DOCS, machine
from bench.routing.command import routing_page
from testkit.arguments import positive
from testkit.progress import Progress

_QUICK, _NORMAL = 2000, 50_000
_TAMA = 20_000
"""Subscriptions of TAMA's figure 8."""
_SWEPT = 20_000
"""Most expressions where a parameter is varied, or all are replaced."""
_JAVA = 2000
"""Most expressions for the peers in Java, whose builds are slow."""
_ROUTED = 1000
"""Events of a simulated run."""


def run(arguments: argparse.Namespace) -> None:
    """Measure, or reuse results, and write or print the page."""
    n = arguments.n or (_QUICK if arguments.quick else _NORMAL)
    flags = "".join([" --quick" * arguments.quick, f" --n {n}" if arguments.n else ""])
    written = arguments.write or not arguments.quick
    page = papers(n, f"python -m bench papers{flags}", picture=written)
    if arguments.quick and not arguments.write:
        print(page)
        return
    path = DOCS / "papers.md"
    path.write_text(page)
    print(f"wrote {path}")


def papers(n: int, command: str, picture: bool = True) -> str:
    """The page, with or without the plots of the parameters."""
    progress = Progress()
    runs, swept = league(n, progress), sweeps(_swept(n), progress)
    evidence = Evidence(
        runs | points(swept),
        drifts(n, progress),
        recoveries(_swept(n), progress),
        false_positives(min(n, _TAMA), progress),
    )
    parts = [
        "# The papers, measured",
        f"Printed by `{command}` on {datetime.now(UTC):%Y-%m-%d}. Machine: {machine()}; load "
        f"average at the end {os.getloadavg()[1]:.1f}.",
        _INTRODUCTION,
        "## The league",
        league_page(runs, peers(min(n // 4, _JAVA), progress)),
        "## What the papers claim",
        _CLAIMS,
        claims_page(evidence),
        "## Drift: churn while matching",
        drift_page(evidence.drifts, n),
        "### BE-Tree under churn",
        recovery_page(evidence.recoveries, _swept(n)),
        "## The papers' parameters",
        parameters_page(swept, picture),
        "## TAMA, which is approximate",
        false_positives_page(evidence.rates, min(n, _TAMA)),
        "## Routing between brokers",
        routing_page(events=_ROUTED, pictures=DOCS / "benchmarks" if picture else None),
    ]
    return "\n\n".join(parts) + "\n"


def _swept(n: int) -> int:
    return min(max(n // 4, _QUICK // 2), _SWEPT)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `papers` on the command line."""
    command = commands.add_parser("papers", help="write the league of engines to docs/papers.md")
    command.add_argument("--quick", action="store_true", help="small, in about two minutes")
    command.add_argument("--write", action="store_true", help="write the page with --quick, too")
    command.add_argument("--n", type=positive, help="expressions of each workload")
    command.set_defaults(run=run)


_INTRODUCTION = """\
The engines of the papers behind Copse, in Rust, as the papers describe them
([bench/native/src/papers](../bench/native/src/papers)), beside our core (`native`), a tight
flat scan and engines of today. All run in one process on one core and take turns, round by
round, with the same expressions and events; their answers are compared and must be equal. Times
are CPU times of the thread, for all matches of an event, ids ascending, into a reused buffer;
build times include what an engine does after the last insert. *× native* is the time as a multiple
of our core's; *× flat* is how many times faster than the flat scan. What engines learn
(statistics, domains) is from other events than those that are measured.
[Decision 25](decisions/0025-the-papers-engines.md) says where the engines differ from their papers.

| engine | paper |
|---|---|
| `a-tree-thesis` | Ji: thesis, chapter 9 |
| `be-tree`, `-lazy`, `-bitmap`, `-bitmap-cc`, `-lazy-bloom`, `-bitmap-bloom` | Sadoghi, \
Jacobsen: Analysis and optimization for Boolean expression indexing (TODS 2013) |
| `propagation-plain`, `propagation` (prefetching), `-static`, `-dynamic` | Fabret, Llirbat, \
Jacobsen, Pereira, Ross, Shasha: Efficient matching algorithms for publish and subscribe systems \
(2000) |
| `pst-bloom`, `pst-hash` | Ji: thesis, chapters 7 and 8 |
| `tama`, `tama-optimal` | Zhao, Wu: Towards approximate event processing in a large-scale \
content-based network (2011) |"""

_CLAIMS = """\
Percentages are the change of time against the rival, as in the papers. A saving holds if ours
is at least half of theirs: machines, languages and sizes differ, so it is the direction and the
order of magnitude that can be repeated."""
