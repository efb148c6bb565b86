"""How long a worker takes to start with many campaigns: cold, and from an index file.

One run measures, each in its own process: reading the rows with asyncpg and nothing else, as the
baseline (before and after; the faster one counts); a cold start, from the spawn of the process
until its view is loaded; saving the index; and, after some more writes, a start from that file with
the newer changes read from the log. Both views' digests are compared with the database's.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from pathlib import Path

from bench.feed.writes import Writes
from bench.index.measure import Result
from testkit import Failed
from testkit.arguments import positive
from testkit.child import Child, Message
from testkit.database import declare, migrated_postgres, opened, rev_and_digest
from testkit.fill import fill
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Workload

SETTINGS = ("synchronous_commit=off", "max_wal_size=8GB")
CHANGES = 400
TEXTS = 50
_MODULE = "bench.feed.start_worker"


class WrongView(Failed):
    """The loaded view differs from the database."""


def measure(campaigns: int, progress: Progress) -> Result:
    """One run. `load_before` is the load average of the machine before it."""
    load = round(os.getloadavg()[0], 2)
    workload = make("ads")
    with migrated_postgres(*SETTINGS) as url, tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        asyncio.run(_fill(url, workload, campaigns, progress))
        bare = _bare(url)
        with Child(_MODULE, "cold", url) as worker:
            cold = _started(worker, progress, "cold start")
            _compare(url, cold, from_file=False)
            progress.show("save", 0, 1)
            worker.tell({"save": str(directory)})
            saved = worker.hear()
        asyncio.run(_change(url, workload, campaigns))
        with Child(_MODULE, "kept", url, directory) as worker:
            kept = _started(worker, progress, "start from the file")
            _compare(url, kept, from_file=True)
        bare = min(bare, _bare(url), key=lambda each: float(each["seconds"]))
        progress.done()
    return _result(campaigns, bare, cold, saved, kept) | {"load_before": load}


async def _fill(url: str, workload: Workload, campaigns: int, progress: Progress) -> None:
    async with opened(url) as store:
        advertisers = await declare(store, workload)
    await fill(url, workload, campaigns, advertisers, progress)


async def _change(url: str, workload: Workload, campaigns: int) -> None:
    """Writes of campaign managers while a worker is down."""
    async with opened(url) as store:
        writes = Writes(store, range(1, 1 + min(campaigns, CHANGES)), workload.texts(TEXTS))
        for _ in range(CHANGES):
            await writes.next()


def _bare(url: str) -> Message:
    with Child(_MODULE, "stream", url) as worker:
        return worker.hear()


def _started(worker: Child, progress: Progress, what: str) -> Message:
    ready = worker.hear(lambda done, total: progress.show(what, done, total))
    seconds = time.monotonic() - worker.spawned_at
    return ready | worker.hear() | {"seconds": seconds}


def _compare(url: str, view: Message, from_file: bool) -> None:
    expected = (*rev_and_digest(url), 0, from_file)
    found = (view["rev"], view["digest"], view["poisoned"], view["from_file"])
    if found != expected:
        raise WrongView(f"(rev, digest, poisoned, from a file): {found}, not {expected}")


def _result(campaigns: int, bare: Message, cold: Message, saved: Message, kept: Message) -> Result:
    targets = {"cold_s": 15 + 2 * bare["seconds"], "kept_s": cold["seconds"] / 4}
    return {
        "campaigns": campaigns,
        "bare_s": _seconds(bare["seconds"]),
        "bare_cpu_s": _seconds(bare["cpu"]),
        "cold_s": _seconds(cold["seconds"]),
        "cold_cpu_s": _seconds(cold["cpu"]),
        "cold_peak_mb": _megabytes(cold["peak"]),
        "cold_loaded_mb": _megabytes(cold["loaded"]),
        "base_mb": _megabytes(cold["base"]),
        "index_mb": _megabytes(cold["index"]),
        "beyond_index_mb": _megabytes(cold["peak"] - cold["base"] - cold["index"]),
        "save_s": _seconds(saved["seconds"]),
        "file_mb": _megabytes(saved["bytes"]),
        "changes": CHANGES,
        "kept_s": _seconds(kept["seconds"]),
        "kept_cpu_s": _seconds(kept["cpu"]),
        "kept_peak_mb": _megabytes(kept["peak"]),
        "kept_share": _seconds(kept["seconds"] / cold["seconds"]),
        "digests_equal": True,
        "targets": {name: _seconds(most) for name, most in targets.items()},
        "met": cold["seconds"] <= targets["cold_s"] and kept["seconds"] <= targets["kept_s"],
    }


def _seconds(value: float) -> float:
    return round(value, 2)


def _megabytes(value: int) -> float:
    return round(value / 1e6, 1)


def run(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    result = measure(arguments.campaigns, Progress())
    if arguments.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:>16}  {value}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `start` on the command line."""
    command = commands.add_parser("start", help="start of a worker, cold and from an index file")
    command.add_argument("--campaigns", type=positive, default=1_000_000)
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.set_defaults(run=run)
