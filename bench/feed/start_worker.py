"""A process that starts in one of three ways and reports the cost.

    python -m bench.feed.start_worker stream URL             only read the rows
    python -m bench.feed.start_worker cold   URL             a `WorkerFeed`, until it is loaded
    python -m bench.feed.start_worker kept   URL DIRECTORY   the same, from an index file

Then the request `{"save": DIRECTORY}` gets the answer `{"seconds": …, "bytes": …}`.
"""

import sys
import time
from pathlib import Path
from typing import Any

import uvloop

from campaigns.feed import queries
from campaigns.feed.index_file import IndexFile
from campaigns.feed.load import BATCH
from campaigns.feed.postgres import BATCH_SECONDS, connect
from campaigns.feed.service import WorkerFeed
from campaigns.feed.view import View
from testkit.child import Message, requests, tell


async def stream(url: str) -> None:
    """The minimum of any start: every row, from Postgres into Python."""
    connection = await connect(url, BATCH_SECONDS)
    rows = 0
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            begin, cpu = time.monotonic(), time.process_time()
            cursor = await connection.cursor(queries.campaigns(postgres=True))
            while batch := await cursor.fetch(BATCH):
                rows += len(batch)
            took = {"seconds": time.monotonic() - begin, "cpu": time.process_time() - cpu}
    finally:
        await connection.close()
    tell({"rows": rows, **took})


async def follow(url: str, directory: Path | None) -> None:
    """Start, report, then save on request."""
    base = memory()
    streamed: list[int] = []

    def progress(done: int, total: int) -> None:
        streamed.append(done)
        tell({"progress": [done, total]})

    async with WorkerFeed(url, keep_in=directory, progress=progress) as feed:
        view = await feed.follower.reached(0)
        used = memory()
        tell({"cpu": time.process_time(), "peak": used["VmHWM"], "loaded": used["VmRSS"]})
        tell(described(view) | {"base": base["VmRSS"], "from_file": not streamed})
        async for request in requests():
            kept = IndexFile(Path(request["save"]))
            begin = time.monotonic()
            await feed.follower.save(kept)
            size = sum(file.stat().st_size for file in kept.directory.iterdir())
            tell({"seconds": time.monotonic() - begin, "bytes": size})


def described(view: View) -> Message:
    """The position and size of a view."""
    sizes: Any = view.index.stats().get("bytes", {})
    return {
        "rev": view.place.rev,
        "digest": view.digest(),
        "campaigns": len(view.index),
        "poisoned": len(view.poisoned),
        "index": sum(sizes.values()),
    }


def memory() -> dict[str, int]:
    """Peak (VmHWM) and current (VmRSS) bytes of memory. `getrusage` would include the parent's
    peak, which a process inherits."""
    lines = Path("/proc/self/status").read_text().splitlines()
    pairs = [line.split() for line in lines if line.startswith(("VmHWM", "VmRSS"))]
    return {name.rstrip(":"): int(kilobytes) * 1024 for name, kilobytes, _ in pairs}


async def main(way: str, url: str, directory: Path | None = None) -> None:
    """Start in one of the three ways."""
    await (stream(url) if way == "stream" else follow(url, directory))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], *map(Path, sys.argv[3:])))
