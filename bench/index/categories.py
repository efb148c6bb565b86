"""The cost of categories in the index (`campaigns/campaign/categories.py`).

The same ads-like campaigns, without categories and with some on each, take turns on the same
events, for the best ten and for all matches. Copies of a campaign have categories of their own.
"""

import argparse
import time
from itertools import islice
from random import Random
from statistics import median

from campaigns.campaign.categories import labels_of
from index import Exclude, Index, Query
from testkit.arguments import positive
from testkit.workloads import make
from testkit.workloads.workload import Event

EVENTS, ROUNDS = 1_500, 9
BLOCKED = labels_of(["IAB7", "IAB7-39", "IAB9-5", "IAB14-1", "IAB23", "IAB25", "IAB25-3", "IAB26"])


def categories_of(id: int) -> list[str]:
    """One to three categories; common ones are much more frequent, most are of the second level."""
    rng = Random(id)
    return [_category(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]


def _category(rng: Random) -> str:
    first = min(int(rng.expovariate(0.15)) + 1, 26)
    return f"IAB{first}-{rng.randint(1, 15)}" if rng.random() < 0.6 else f"IAB{first}"


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    workload = make("ads")
    trees = list(islice(workload.expressions(), arguments.campaigns))
    plain, labelled = Index(workload.schema), Index(workload.schema)
    rows = [(id, tree, id % 997, None, None, 0, 1) for id, tree in enumerate(trees)]
    plain.insert_json(rows)
    labelled.insert_json((*row, labels_of(categories_of(row[0]))) for row in rows)
    events = workload.events(EVENTS)
    anything, blocking = Query(None, 10), Query(None, 10, exclude=Exclude(labels=BLOCKED))
    all_of, all_blocking = Query(), Query(exclude=Exclude(labels=BLOCKED))
    cases = {
        "best ten, no categories": (plain, anything),
        "with categories": (labelled, anything),
        f"with {len(BLOCKED)} blocked": (labelled, blocking),
        "all, no categories": (plain, all_of),
        "all, with categories": (labelled, all_of),
        f"all, with {len(BLOCKED)} blocked": (labelled, all_blocking),
    }
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(1 + ROUNDS):
        for name, (index, query) in cases.items():
            seconds = _time(index, events, query)
            if turn:  # the first is warm-up
                taken[name].append(seconds)
    for name, times in taken.items():
        if cases[name][0] is plain:
            base = times
        ratio = median(time / other for time, other in zip(times, base, strict=True))
        print(f"{name:<24} {median(times) * 1e6:8.1f} µs an event   × {ratio:.2f}")


def _time(index: Index, events: list[Event], query: Query) -> float:
    start = time.process_time()
    for event in events:
        index.ask(event, query)
    return (time.process_time() - start) / len(events)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `categories` on the command line."""
    command = commands.add_parser("categories", help="the cost of categories in the index")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.set_defaults(run=run)
