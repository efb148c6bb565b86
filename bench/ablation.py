"""What each choice of the native core brings: the same expressions with one of them taken away."""

import argparse

from bench import report
from bench.match import positive
from bench.progress import Progress
from bench.workloads import NAMES, make

VARIANTS: list[tuple[str, dict[str, object]]] = [
    ("native", {}),
    ("one guard", {"guards": 1}),
    ("no guards", {"guards": 0}),
    ("no statistics", {"seen": ()}),
    ("no statistics, no guards", {"seen": (), "guards": 0}),
]


def run(arguments: argparse.Namespace) -> None:
    """Measure and print a table for each workload."""
    for name in arguments.workloads:
        progress = Progress()
        table = report.ablation(make(name), arguments.n, arguments.events, VARIANTS, progress)
        print(f"\n{name}, {arguments.n:,} expressions\n\n{table}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `ablation` on the command line."""
    command = commands.add_parser("ablation", help="the native core with choices taken away")
    command.add_argument("--workloads", nargs="+", choices=NAMES, default=["ads", "abe"])
    command.add_argument("--n", type=positive, default=100_000, help="expressions")
    command.add_argument("--events", type=positive, default=100)
    command.set_defaults(run=run)
