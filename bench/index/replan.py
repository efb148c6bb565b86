"""What matches and inserts wait for while statistics are activated, and every expression is planned
anew.

One thread matches every millisecond, one inserts every five: alone, while statistics come into use,
and while they go. Wall clock, in milliseconds, since waiting is what is measured; so the machine
should have nothing else to do.
"""

import argparse
import itertools
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from index import Index
from testkit.statistics import statistics_of
from testkit.workloads import make

SEEN, ASKED = 2000, 1000
MATCH_EVERY, INSERT_EVERY = 0.001, 0.005
QUANTILES = (0.5, 0.9, 0.99, 1.0)

Waits = dict[str, list[float]]


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    workload = make("ads")
    seen = min(SEEN, arguments.n)
    events = workload.events(seen + min(ASKED, arguments.n))
    statistics = json.dumps(statistics_of(events[:seen], workload.schema)).encode()
    bodies = [json.dumps(event).encode() for event in events[seen:]]
    stream = enumerate(workload.expressions())
    index = Index(workload.schema)
    rows = itertools.islice(stream, arguments.n)
    index.insert_json((id, tree.encode()) for id, tree in rows)
    print(f"{arguments.n:,} expressions, statistics of {len(statistics):,} bytes; milliseconds\n")
    print("| | seconds | match p50 | p90 | p99 | max | insert p50 | p90 | p99 | max |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    phases: list[tuple[str, Callable[[], Any]]] = [
        ("nothing else", lambda: time.sleep(arguments.seconds)),
        ("statistics come", lambda: index.use_statistics(statistics)),
        ("nothing else", lambda: time.sleep(arguments.seconds)),
        ("statistics go", lambda: index.use_statistics(None)),
    ]
    for name, work in phases:
        began = time.perf_counter()
        waits = _beside(work, index, bodies, stream)
        cells = [f"{time.perf_counter() - began:.1f}"]
        cells += [f"{_at(waits[kind], q):.2f}" for kind in ("match", "insert") for q in QUANTILES]
        print(f"| {name} | {' | '.join(cells)} |")


def _beside(
    work: Callable[[], Any], index: Index, bodies: list[bytes], stream: "enumerate[str]"
) -> Waits:
    """Do some work, and say how long each match and each insert took meanwhile."""
    over = threading.Event()
    bodies_again = itertools.cycle(bodies)

    def match() -> None:
        index.match(next(bodies_again))

    def insert() -> None:
        id, tree = next(stream)
        index.insert_json([(id, tree.encode())])

    waits: Waits = {"match": [], "insert": []}

    def keep_doing(one: Callable[[], None], every: float, times: list[float]) -> None:
        while not over.is_set():
            began = time.perf_counter()
            one()
            times.append((time.perf_counter() - began) * 1000)
            time.sleep(every)

    threads = [
        threading.Thread(target=keep_doing, args=(match, MATCH_EVERY, waits["match"])),
        threading.Thread(target=keep_doing, args=(insert, INSERT_EVERY, waits["insert"])),
    ]
    for thread in threads:
        thread.start()
    try:
        work()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return waits


def _at(times: list[float], quantile: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * quantile))]


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `replan`."""
    parser = commands.add_parser("replan", help="what waits while statistics are activated")
    parser.add_argument("-n", type=int, default=200_000, help="how many expressions")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long nothing is done")
    parser.set_defaults(run=run)
