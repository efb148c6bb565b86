"""Costly predicates: how many each order evaluates, in the experiment of Liu, Parthasarathy,
Ranganathan, Yang: Scalable Event Matching for Overlapping Subscriptions in Pub/Sub Systems."""

import argparse
from collections.abc import Iterable
from random import Random
from statistics import fmean

from bench.papers.calls_algorithms import Algorithm, fewest, naive, ours, sequential, sub_order
from bench.papers.calls_workload import SHARE, workload
from testkit.arguments import positive
from testkit.markdown import table

ALGORITHMS: dict[str, Algorithm] = {
    "naive, with a cache": naive,
    "Sequential": sequential,
    "Sub-Order": sub_order,
    "ours": ours(),
    "any order, at least": fewest(),
    "ours, limit 10": ours(limit=10),
    "limit 10, at least": fewest(limit=10),
}
Setting = tuple[int, int, float | None, float]
"""Subscriptions, predicates, the exponent of Zipf's law, and the share that matches."""

SETTINGS: tuple[Setting, ...] = (
    *((each, 40_000, None, SHARE) for each in (2_000, 20_000, 80_000)),
    *((each, 40_000, 1.0, SHARE) for each in (2_000, 20_000, 80_000)),
    *((20_000, each, 1.0, SHARE) for each in (1_000, 5_000, 10_000, 30_000)),
    *((20_000, 30_000, 1.0, share) for share in (0.02, 0.2)),
)


def evaluations(setting: Setting, events: int, seed: int) -> dict[str, float]:
    """The mean number of evaluations an event, by algorithm, on the same events."""
    subscriptions, predicates, zipf, share = setting
    given = workload(subscriptions, predicates, zipf, seed, share)
    counts: dict[str, list[int]] = {name: [] for name in ALGORITHMS}
    rng = Random(f"events {seed}")
    for _ in range(events):
        event = given.event(rng)
        for name, algorithm in ALGORITHMS.items():
            counts[name].append(algorithm(given, event, rng))
    return {name: fmean(each) for name, each in counts.items()}


def calls_page(settings: Iterable[Setting], events: int, seed: int) -> str:
    """A table with a row for each setting."""
    rows = []
    for setting in settings:
        subscriptions, predicates, zipf, share = setting
        found = evaluations(setting, events, seed)
        law = "uniform" if zipf is None else f"zipf {zipf:g}"
        counts = [f"{count:,.0f}" for count in found.values()]
        sizes = [f"{subscriptions:,}", f"{predicates:,}", law, f"{100 * share:g} %"]
        rows.append([*sizes, *counts])
    return table(["subscriptions", "predicates", "popularity", "match", *ALGORITHMS], rows)


def run(arguments: argparse.Namespace) -> None:
    """Print the table."""
    print(calls_page(SETTINGS, arguments.events, arguments.seed))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `calls` on the command line."""
    command = commands.add_parser("calls", help="count the evaluations of costly predicates")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--events", type=positive, default=20, help="events of a setting")
    command.set_defaults(run=run)
