"""Time from the commit of a write until every worker sees it, with Redis and without.

It starts a Postgres (with fsync, as in production), a Redis, the workers and a writer as separate
processes and measures two phases: with Redis, then with Redis killed at the start of the phase, so
that the workers must notice and poll the log. After each phase every worker's digest is compared
with the database's. `--json` prints one JSON object per phase.
"""

import argparse
import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

from bench.feed.latency import figures, spans, visible_at
from bench.index.measure import Result
from campaigns.feed.postgres import connect
from testkit import Failed
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.database import migrated_postgres, rev_and_digest
from testkit.progress import Progress
from testkit.servers import redis_server

SETTINGS = ("fsync=on", "track_commit_timestamp=on")
WARM_UP_SECONDS = 3

WITH, WITHOUT = "with Redis", "Redis gone"
ENOUGH = 0.95
"""Share of the requested writes that must be made for a target to count as met."""

TARGETS = {WITH: {"p50_ms": 20.0, "p99_ms": 100.0}, WITHOUT: {"max_ms": 1500.0}}


class DigestsDiffer(Failed):
    """A worker's index differs from the database."""


class Bench:
    """The processes of a run."""

    def __init__(self, url: str, writer: Child, workers: Sequence[Child], rate: int) -> None:
        self._url = url
        self._writer = writer
        self._workers = workers
        self._rate = rate
        self._counts: Counter[str] = Counter()
        self._cpu = [0.0] * len(workers)

    def phase(self, name: str, seconds: float, progress: Progress) -> Result:
        """Write for `seconds`, wait until every worker has every write, and compare."""
        self._writer.tell({"rate": self._rate, "seconds": seconds})
        written = self._writer.hear(lambda done, total: progress.show(name, done, total))
        acknowledged = {rev: at for rev, _, at in written["writes"]}
        due = {rev: at for rev, at, _ in written["writes"]}
        for worker in self._workers:
            worker.tell({"rev": max(acknowledged)})
        seen = [worker.hear() for worker in self._workers]
        visible = visible_at(acknowledged, [each["arrivals"] for each in seen])
        committed = asyncio.run(_committed(self._url, min(acknowledged)))
        self._compare(seen)
        cores = written["cores"]
        result: Result = {
            "phase": name,
            "workers": len(seen),
            "campaigns": seen[0]["campaigns"],
            "writes": len(acknowledged),
            "failed": written["failed"],
            "seconds": round(written["seconds"], 2),
            "asked_per_second": self._rate,
            "writes_per_second": round(len(acknowledged) / written["seconds"], 1),
            **figures(spans({rev: committed[rev] for rev in acknowledged}, visible)),
            **figures(spans(acknowledged, visible), "acknowledged_"),
            **figures(spans(due, acknowledged), "write_"),
            "writer_cores": round(cores, 2),
            "writer_cpu_ms": _milliseconds(cores * written["seconds"] / len(acknowledged)),
            "workers_cpu_ms": self._spent(seen, len(acknowledged)),
            "lanes": self._lanes(seen),
            "digests_equal": True,
        }
        return result | _judged(name, result)

    def _compare(self, seen: Sequence[Message]) -> None:
        """Without writes, every worker must be at the rev and digest of the database."""
        rev, digest = rev_and_digest(self._url)
        for number, worker in enumerate(seen):
            if (worker["rev"], worker["digest"]) != (rev, digest) or worker["poisoned"]:
                raise DigestsDiffer(
                    f"the database is at rev {rev} with digest {digest:x}, worker {number} at "
                    f"{worker['rev']} with {worker['digest']:x}, {worker['poisoned']} poisoned"
                )

    def _spent(self, seen: Sequence[Message], writes: int) -> list[float]:
        """CPU per write of each worker since the last phase; the lease holder also runs the
        relay."""
        spent = [each["cpu"] - before for each, before in zip(seen, self._cpu, strict=True)]
        self._cpu = [each["cpu"] for each in seen]
        return [_milliseconds(seconds / writes) for seconds in spent]

    def _lanes(self, seen: Sequence[Message]) -> dict[str, int]:
        """How changes reached the workers since the last phase, and errors."""
        counts: Counter[str] = Counter()
        for worker in seen:
            counts.update(worker["counts"])
        new, self._counts = counts - self._counts, counts
        return dict(new)


def measure(
    rate: int, seconds: float, workers: int, campaigns: int, progress: Progress
) -> list[Result]:
    """Both phases. `load_before` is the load average of the machine before the run."""
    load = round(os.getloadavg()[0], 2)
    with migrated_postgres(*SETTINGS) as url, redis_server() as redis, ExitStack() as stack:
        writer = stack.enter_context(Child("bench.feed.writer", url, campaigns))
        writer.hear(lambda done, total: progress.show("make campaigns", done, total))
        followers = [
            stack.enter_context(Child("bench.feed.worker", url, redis.url)) for _ in range(workers)
        ]
        bench = Bench(url, writer, followers, rate)
        bench.phase("warm up", WARM_UP_SECONDS, progress)
        results = [bench.phase(WITH, seconds, progress)]
        redis.stop()
        results.append(bench.phase(WITHOUT, seconds, progress))
        progress.done()
        return [result | {"load_before": load} for result in results]


async def _committed(url: str, first: int) -> dict[int, int]:
    """Commit timestamps of Postgres from a rev on, in CLOCK_MONOTONIC."""
    connection = await connect(url)
    try:
        rows = await connection.fetch(
            "SELECT rev, extract(epoch FROM pg_xact_commit_timestamp(xmin)) AS at "
            "FROM changes WHERE rev >= $1",
            first,
        )
    finally:
        await connection.close()
    since = time.time_ns() - time.monotonic_ns()
    return {rev: int(at * 1_000_000_000) - since for rev, at in rows}


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _judged(name: str, result: Result) -> Result:
    targets = TARGETS.get(name, {})
    enough = result["writes_per_second"] >= ENOUGH * result["asked_per_second"]
    met = enough and all(result[name] <= most for name, most in targets.items())
    return {"targets": targets, "met": met}


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    sizes = (arguments.writes_per_second, arguments.seconds, arguments.workers, arguments.campaigns)
    results = measure(*sizes, Progress())
    for result in results:
        print(json.dumps(result) if arguments.json else described(result))


def described(result: Result) -> str:
    """The result as text."""
    spans = {
        "": "commit to visible",
        "acknowledged_": "acknowledged to visible",
        "write_": "due to acknowledged",
    }
    lines = [
        f"{result['phase']}: {result['writes_per_second']} of "
        f"{result['asked_per_second']} writes a second, "
        f"{result['workers']} workers, {result['campaigns']:,} campaigns"
    ]
    for prefix, span in spans.items():
        names = ("p50", "p95", "p99", "max")
        cells = "  ".join(f"{name} {result[f'{prefix}{name}_ms']:>8}" for name in names)
        lines.append(f"  {span:>24}, ms: {cells}")
    lines.append(
        f"  {'CPU a write, ms':>24}: writer {result['writer_cpu_ms']}, "
        f"workers {result['workers_cpu_ms']}"
    )
    lines.append(f"  {'targets':>24}: {result['targets']}: {'met' if result['met'] else 'MISSED'}")
    lines.append(f"  {'load before':>24}: {result['load_before']}")
    lines.append(f"  {'lanes':>24}: {result['lanes']}")
    return "\n".join(lines)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `feed` on the command line."""
    command = commands.add_parser("feed", help="time from a commit until every worker sees it")
    command.add_argument("--writes-per-second", type=positive, default=200)
    command.add_argument(
        "--seconds", type=positive, default=20, help="length of each of the two phases"
    )
    command.add_argument("--workers", type=positive, default=2)
    command.add_argument("--campaigns", type=positive, default=10_000, help="initial campaigns")
    command.add_argument("--json", action="store_true", help="print one JSON object per phase")
    command.set_defaults(run=run)
