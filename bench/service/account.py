"""Why a match in the service takes longer than the index alone: each cause, with and without it.

All rows ask the same events of the same campaigns in one process and take turns. The base is the
question of the service, the ten best campaigns in their flights as JSON, asked of an index with
statistics in a tight loop. A row changes one thing. Reported is the CPU of this thread for an
event, the median over the rounds, except for the last rows, which need wall time: the time in the
index with more and more of the service between two matches (`served.py`), and beside a thread.
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

import orjson

from app.match.request import read
from app.match.single import reserved
from bench.service.served import served
from campaigns.campaign.categories import labels_of
from campaigns.catalogue.model import BLOCKED_CATEGORIES, schema_of
from index import Index, Query
from index.score import score_of
from testkit import ROOT
from testkit.arguments import positive
from testkit.client import match_bodies
from testkit.machine import description
from testkit.markdown import table
from testkit.statistics import statistics_of
from testkit.workloads import cache, make
from testkit.workloads.workload import Event, Workload

PAGE = ROOT / "docs" / "benchmarks-account.md"
ROUNDS = 7
EVENTS, SEEN = 300, 5_000
LIMIT = 10
NOW = 1_790_000_000.0
TAIL = b',"epoch":"5f0c7d1e9a3b2c48","rev":42}'
CACHES = 64 * 2**20
"""Bytes to read so that no CPU cache has anything of the index."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A cause, and microseconds for an event without and with it."""

    cause: str
    without: float
    with_it: float


def rows_of(workload: Workload, campaigns: int) -> list[Row]:
    """Campaigns as the load tests have them: a quarter with a flight, half with categories."""
    rng = Random("campaigns")
    some = [labels_of(f"IAB{n}" for n in rng.sample(range(1, 26), 1 + n % 3)) for n in range(100)]
    rows = []
    for place, tree in cache.items(workload, campaigns):
        drawn = rng.random()
        start = NOW - 40 * 86_400 + drawn * 3.6e6 if drawn < 0.25 else None
        rows.append(
            (
                *(place + 1, tree, score_of(place % 10, int(drawn * 5_000_000))),
                *(start, start and start + 30 * 86_400, 1 + place % 100, 1),
                some[place % 100] if drawn > 0.5 else (),
            )
        )
    return rows


def guarded(row: Row) -> Row:
    """A row with its categories in the expression instead of beside it."""
    tree, labels = row[1], row[7]
    if labels:
        none_of = orjson.dumps(["none of", BLOCKED_CATEGORIES, *labels]).decode()
        guard = f'["or",["is null","{BLOCKED_CATEGORIES}"],{none_of}]'
        tree = f'[1,["and",{tree[len("[1,") : -1]},{guard}]]'
    return (row[0], tree, *row[2:7])


def measure(campaigns: int, rounds: int = ROUNDS, events: int = EVENTS) -> list[Item]:
    """The base, then every cause."""
    workload = make("ads")
    rows = rows_of(workload, campaigns)
    drawn = workload.events(events)
    seen = workload.events(SEEN + events)[events:]
    known = statistics_of(seen, workload.schema)

    def index(with_rows: Sequence[Row], document: dict[str, object] | None) -> Index:
        types = [(each.name, each.type.value) for each in workload.schema]
        made = Index(schema_of(types))
        made.use_statistics(document)
        made.insert_json(with_rows)
        return made

    informed, blind = index(rows, known), index(rows, None)
    inside = index([guarded(row) for row in rows], known)
    sampled = index(rows, None)
    for _ in range(4):
        for event in seen[: 64 * 64]:
            sampled.top(event)
        sampled.sampled()
    sampled.replan()
    query = _query()
    cases: dict[str, Callable[[], float]] = {
        "base": _asks(informed, drawn, query),
        "statistics": _asks(blind, drawn, query),
        "own": _asks(sampled, drawn, query),
        "categories": _asks(inside, drawn, query),
        "all": _asks(informed, drawn, _query(limit=None)),
        "all, categories": _asks(inside, drawn, _query(limit=None)),
        "all, statistics": _asks(blind, drawn, _query(limit=None)),
        "total": _asks(informed, drawn, _query(total=True)),
        "no flights": _asks(informed, drawn, _query(at=None)),
        "no built-ins": _asks(informed, drawn, _query(builtins=None)),
        "bytes": _asks(informed, [orjson.dumps(event) for event in drawn], query),
        "no JSON": _asks(informed, drawn, query, writes=False),
        "cold": _asks_cold(informed, drawn, query),
        "parsed": _asks_bodies(informed, match_bodies(drawn), query),
    }
    took = _in_turns(cases, rounds)
    wall = _in_turns({"alone": _asks(informed, drawn, query, time.perf_counter)}, rounds)["alone"]
    with _Computing():
        beside = _in_turns({"it": _asks(informed, drawn, query, time.perf_counter)}, rounds)["it"]
    timed = served(informed, drawn, rounds)
    base = took["base"]
    return [
        Item("all matches instead of the best ten", base, took["all"]),
        Item("the total beside the best ten", base, took["total"]),
        Item("statistics missing", base, took["statistics"]),
        Item("… and all matches", took["all"], took["all, statistics"]),
        Item("the index's own sample instead of statistics", base, took["own"]),
        Item("categories in the expression", base, took["categories"]),
        Item("… and all matches", took["all"], took["all, categories"]),
        Item("flights", took["no flights"], base),
        Item("built-in attributes", took["no built-ins"], base),
        Item("a dictionary instead of bytes", took["bytes"], base),
        Item("the answer as JSON", took["no JSON"], base),
        Item("parsing the request", base, took["parsed"]),
        Item("cold caches", base, took["cold"]),
        Item("the index's time: after reading the request", timed["alone"], timed["read"]),
        Item("… with the server between two matches", timed["alone"], timed["server"]),
        Item("… and its sockets, at maximum load", timed["alone"], timed["sockets"]),
        Item("beside a thread that computes (wall time)", wall, beside),
    ]


def _query(
    at: float | None = NOW,
    limit: int | None = LIMIT,
    total: bool = False,
    builtins: dict[str, object] | None = reserved(int(NOW // 3600)),  # noqa: B008 (a constant)
) -> Query:
    return Query(at, limit, total, None, 0, builtins)


def _asks(
    index: Index,
    events: Sequence[Event | bytes],
    query: Query,
    clock: Callable[[], float] = time.thread_time,
    writes: bool = True,
) -> Callable[[], float]:
    def ask() -> float:
        started = clock()
        for event in events:
            found = index.ask(event, query)
            if writes and query.limit is not None:
                found.to_json(TAIL)
        return (clock() - started) / len(events)

    return ask


def _asks_bodies(index: Index, bodies: Sequence[bytes], query: Query) -> Callable[[], float]:
    def ask() -> float:
        started = time.thread_time()
        for body in bodies:
            index.ask(read(body).attributes, query).to_json(TAIL)
        return (time.thread_time() - started) / len(bodies)

    return ask


def _asks_cold(index: Index, events: Sequence[Event], query: Query) -> Callable[[], float]:
    other = bytes(CACHES)

    def ask() -> float:
        took = 0.0
        some = events[:50]
        for event in some:
            other.count(b"x")
            started = time.thread_time()
            index.ask(event, query).to_json(TAIL)
            took += time.thread_time() - started
        return took / len(some)

    return ask


def _in_turns(cases: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Microseconds; the first round is a warm-up."""
    took: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for name, case in cases.items():
            seconds = case()
            if turn:
                took[name].append(1e6 * seconds)
    return {name: statistics.median(times) for name, times in took.items()}


class _Computing:
    """A thread that computes in Python while the block runs, as a request of the admin API does."""

    def __enter__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._compute)
        self._thread.start()

    def _compute(self) -> None:
        while not self._stop.is_set():
            sum(range(1000))

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def report(items: Sequence[Item]) -> str:
    """A table."""
    cells = [
        (
            each.cause,
            f"{each.without:.1f}",
            f"{each.with_it:.1f}",
            f"{each.with_it / each.without:.2f}",
        )
        for each in items
    ]
    return table(("cause", "without, µs", "with, µs", "×"), cells)


def page(measured: dict[int, list[Item]], command: str) -> str:
    """The document."""
    parts = [
        "# What a match costs, item by item\n",
        f"Printed by `{command}` on {datetime.now(UTC):%d %B %Y}. Machine: {description()}; "
        "it is shared, so trust the ratios.\n",
        "Every row changes one thing of the question that the service asks (the ten best campaigns "
        "in their flights, as JSON, of an index with statistics) and asks the same events in the "
        "same process, in turns. Times are CPU for an event, medians over the rounds. The rows of "
        "the index's time are what `copse_match_duration_seconds` measures, in wall time: back to "
        "back, and with more and more of the service between two matches.\n",
    ]
    for campaigns, items in measured.items():
        parts.append(f"## {campaigns:,} campaigns\n\n{report(items)}\n")
    return "\n".join(parts)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    measured = {}
    for campaigns in arguments.campaigns:
        measured[campaigns] = measure(campaigns, arguments.rounds)
        print(f"{campaigns:,} campaigns\n\n{report(measured[campaigns])}\n")
    if arguments.write:
        sizes = " ".join(map(str, arguments.campaigns))
        command = f"python -m bench account --campaigns {sizes} --rounds {arguments.rounds} --write"
        PAGE.write_text(page(measured, command))
        print(f"wrote {PAGE.relative_to(ROOT)}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `account` on the command line."""
    command = commands.add_parser("account", help="what a match costs the service, item by item")
    command.add_argument("--campaigns", type=positive, nargs="+", default=[100_000])
    command.add_argument("--rounds", type=positive, default=ROUNDS)
    command.add_argument("--write", action="store_true", help="write docs/benchmarks-account.md")
    command.set_defaults(run=run)
