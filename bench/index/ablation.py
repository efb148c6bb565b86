"""What each choice of the native core brings: the same expressions with one choice turned off.

All variants are in one process and take turns, like the engines of `measure.py`, and all must give
the same answers.
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from bench.index.engines import Engine
from bench.index.engines.native import Native
from bench.index.measure import Result, measure
from bench.papers import report, results
from index.language import Schema
from testkit.arguments import positive
from testkit.progress import Progress
from testkit.workloads import NAMES, make
from testkit.workloads.workload import Event, Workload

VARIANTS: dict[str, dict[str, Any]] = {
    "everything on": {},
    "no pair keys": {"tuning": {"pairs": 0}},
    "one guard": {"tuning": {"guards": 1}},
    "no guards": {"tuning": {"guards": 0}},
    "counts itself, no statistics": {"knows": "counting"},
    "ranking of operators only": {"knows": "ranking", "tuning": {"counting": 0}},
    "access by the ranking": {"tuning": {"access": 1}},
    "access at random": {"tuning": {"access": 0}},
    "no tiny sets": {"tuning": {"tiny_sets": 0}},
    "no prefetching": {"tuning": {"prefetch": 0}},
    "no huge pages": {"tuning": {"huge_pages": 0}},
}
"""Arguments of `Native` by name of the variant. The first is the base of comparison."""


def ablation(workload: Workload, n: int, events: int, progress: Progress) -> list[Result]:
    """A result per variant, with the postings that an event touches and the ratio of its time to
    the first one's. Results of the same binaries are reused."""
    key = ["ablation", workload.key(), n, events, list(VARIANTS)]
    known = results.kept(key)
    if known is not None:
        return known
    made: dict[str, Native] = {}

    def make_variant(name: str, schema: Schema, seen: Sequence[Event]) -> Engine:
        made[name] = Native(schema, **{"seen": seen, **VARIANTS[name]})
        return made[name]

    measured = measure(
        workload, n, events, list(VARIANTS), rounds=31, progress=progress, make=make_variant
    )
    some = workload.events(events)
    for result in measured:
        if "skipped" not in result:
            touched = made[result["engine"]].touched(some)
            result["postings_per_event"] = round(sum(touched) / len(touched))
            ratio = result["match_us_median"] / measured[0]["match_us_median"]
            result["ratio_to_all_on"] = round(ratio, 3)
    results.keep(key, measured)
    return measured


def run(arguments: argparse.Namespace) -> None:
    """Measure and print a table, or a JSON object per variant."""
    workload = make(arguments.workload)
    measured = ablation(workload, arguments.n, arguments.events, Progress())
    if arguments.json:
        for result in measured:
            print(json.dumps({"workload": arguments.workload, **result}))
        return
    print(f"{arguments.workload}, {arguments.n:,} expressions\n")
    print(report.ablation_table(measured))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `ablation` on the command line."""
    command = commands.add_parser("ablation", help="the native core with choices turned off")
    command.add_argument("--workload", choices=NAMES, default="ads")
    command.add_argument("--n", type=positive, default=100_000, help="expressions")
    command.add_argument("--events", type=positive, default=100)
    command.add_argument("--json", action="store_true", help="print one JSON object per variant")
    command.set_defaults(run=run)
