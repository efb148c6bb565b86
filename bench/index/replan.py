"""How long matches and inserts wait while statistics are activated, which replans everything.

One thread matches every millisecond, one inserts every five: alone, while statistics are activated,
and while they are withdrawn. Waits are wall-clock milliseconds, so run this on an idle machine. The
hold is the longest time for which the index kept matches out, in CPU time of its thread. The
answers must be the same before and after each phase.
"""

import argparse
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.index.measure import Disagreement
from index import Index
from testkit.markdown import table
from testkit.statistics import statistics_of
from testkit.workloads import make
from testkit.workloads.workload import Workload

SEEN, ASKED = 2000, 1000
MATCH_EVERY, INSERT_EVERY = 0.001, 0.005
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
ALONE, ACTIVATED, WITHDRAWN = "nothing else", "statistics activated", "statistics withdrawn"


@dataclass(frozen=True, slots=True)
class Phase:
    """One row of the result; milliseconds, except for `seconds`."""

    name: str
    seconds: float
    cpu: float
    """CPU time of the activation."""

    hold: float
    match: list[float]
    insert: list[float]

    def to_json(self) -> dict[str, Any]:
        waits = {"match": sorted(self.match), "insert": sorted(self.insert)}
        return {
            "phase": self.name,
            "seconds": round(self.seconds, 2),
            "cpu_ms": round(self.cpu, 2),
            "hold_ms": round(self.hold, 3),
            **{
                f"{kind}_{name}_ms": round(times[min(len(times) - 1, int(len(times) * share))], 3)
                for kind, times in waits.items()
                for name, share in QUANTILES.items()
            },
            "matches": len(self.match),
            "inserts": len(self.insert),
        }


class Replan:
    """An index with `n` expressions, and statistics to activate."""

    def __init__(self, workload: Workload, n: int) -> None:
        seen = min(SEEN, n)
        events = workload.events(seen + min(ASKED, n))
        self.n = n
        self.statistics = json.dumps(statistics_of(events[:seen], workload.schema)).encode()
        self.index = Index(workload.schema)
        self._bodies = [json.dumps(event).encode() for event in events[seen:]]
        self._stream = ((id, tree.encode()) for id, tree in enumerate(workload.expressions()))
        self.index.insert_json(itertools.islice(self._stream, n))

    def phases(self, seconds: float) -> Iterator[Phase]:
        """Measure each phase; `seconds` is the length of those without an activation."""
        work: list[tuple[str, Callable[[], object]]] = [
            (ALONE, lambda: time.sleep(seconds)),
            (ACTIVATED, lambda: self.index.use_statistics(self.statistics)),
            (ALONE, lambda: time.sleep(seconds)),
            (WITHDRAWN, lambda: self.index.use_statistics(None)),
        ]
        expected = self._answers()
        for name, one in work:
            yield self._phase(name, one)
            if self._answers() != expected:
                raise Disagreement(f"{name}: the answers are not those from before")

    def _answers(self) -> list[list[int]]:
        """The answers, without the expressions that were inserted meanwhile."""
        found = (self.index.match(body) for body in self._bodies)
        return [[id for id in ids if id < self.n] for ids in found]

    def _phase(self, name: str, work: Callable[[], object]) -> Phase:
        """Do the work while other threads match and insert."""
        over = threading.Event()
        bodies = itertools.cycle(self._bodies)
        match: list[float] = []
        insert: list[float] = []

        def repeat(one: Callable[[], object], every: float, times: list[float]) -> None:
            while not (times and over.wait(every)):
                began = time.perf_counter()
                one()
                times.append((time.perf_counter() - began) * 1000)

        threads = [
            threading.Thread(
                target=repeat,
                args=(lambda: self.index.match(next(bodies)), MATCH_EVERY, match),
            ),
            threading.Thread(
                target=repeat,
                args=(lambda: self.index.insert_json([next(self._stream)]), INSERT_EVERY, insert),
            ),
        ]
        core = self.index._native().core
        core.take_longest_update_ns()
        for thread in threads:
            thread.start()
        began, cpu = time.perf_counter(), time.thread_time()
        try:
            work()
        finally:
            took, used = time.perf_counter() - began, time.thread_time() - cpu
            over.set()
            for thread in threads:
                thread.join()
        hold = core.take_longest_update_ns() / 1e6
        return Phase(name, took, used * 1000, hold, match, insert)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    replan = Replan(make("ads"), arguments.n)
    results = []
    for phase in replan.phases(arguments.seconds):
        results.append(phase.to_json())
        if arguments.json:
            print(json.dumps(results[-1]))
    if not arguments.json:
        size = len(replan.statistics)
        print(f"{arguments.n:,} expressions, statistics of {size:,} bytes; milliseconds\n")
        print(table([*results[0]], [[*result.values()] for result in results]))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `replan` on the command line."""
    command = commands.add_parser("replan", help="waiting times while statistics are activated")
    command.add_argument("-n", type=int, default=200_000, help="expressions")
    command.add_argument("--seconds", type=float, default=3.0, help="phases without activation")
    command.add_argument("--json", action="store_true", help="print one JSON object per phase")
    command.set_defaults(run=run)
