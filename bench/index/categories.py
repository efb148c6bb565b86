"""The cost of categories in the index (`campaigns/campaign/categories.py`).

The same ads-like campaigns, without categories and with some on each, take turns on the same
events. A copy of a campaign has the categories of the original.
"""

import argparse
import time
from itertools import islice
from random import Random
from statistics import median

from campaigns.campaign.categories import wrap
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from index import Attribute, Index, Schema
from testkit.arguments import positive
from testkit.workloads import make
from testkit.workloads.workload import Event

EVENTS, ROUNDS = 1_500, 9
BLOCKED = ["IAB7", "IAB7-39", "IAB9-5", "IAB14-1", "IAB23", "IAB25", "IAB25-3", "IAB26"]


def categories_of(tree: str) -> list[str]:
    """One to three categories; common ones are much more frequent, most are of the second level."""
    rng = Random(tree)
    return [_category(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]


def _category(rng: Random) -> str:
    first = min(int(rng.expovariate(0.15)) + 1, 26)
    return f"IAB{first}-{rng.randint(1, 15)}" if rng.random() < 0.6 else f"IAB{first}"


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    workload = make("ads")
    schema = Schema([*workload.schema, Attribute(BLOCKED_CATEGORIES, "string list")])
    trees = list(islice(workload.expressions(), arguments.campaigns))
    plain, guarded = Index(schema), Index(schema)
    plain.insert_json((id, tree) for id, tree in enumerate(trees))
    guarded.insert_json((id, wrap(tree, categories_of(tree))) for id, tree in enumerate(trees))
    events = workload.events(EVENTS)
    blocking = [event | {BLOCKED_CATEGORIES: BLOCKED} for event in events]
    cases = {
        "no categories": (plain, events),
        "with categories": (guarded, events),
        f"… and {len(BLOCKED)} blocked": (guarded, blocking),
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(1 + ROUNDS):
        for name, (index, asked) in cases.items():
            seconds = _time(index, asked)
            if turn:  # the first is warm-up
                taken[name].append(seconds)
    base = taken["no categories"]
    for name, times in taken.items():
        ratio = median(time / other for time, other in zip(times, base, strict=True))
        print(f"{name:<20} {median(times) * 1e6:8.1f} µs an event   × {ratio:.2f}")


def _time(index: Index, events: list[Event]) -> float:
    start = time.process_time()
    for event in events:
        index.top(event, 10)
    return (time.process_time() - start) / len(events)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `categories` on the command line."""
    command = commands.add_parser("categories", help="the cost of categories in the index")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.set_defaults(run=run)
