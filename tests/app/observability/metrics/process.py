"""A worker that counts, answers its peers and ends in order at SIGTERM.

It says `ready` when it listens. With `--deaf` it listens and never answers.
"""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

import uvloop

from app.observability.metrics.collect import record_final_counts
from app.observability.metrics.registry import Registry
from app.workers.peers import Peer


async def work(directory: Path, worker: str, count: int, deaf: bool) -> None:
    registry = Registry(worker)
    registry.counter("copse_requests_total", "match", "200").add(count)
    registry.histogram("copse_match_duration_seconds").observe(0.0002)
    registry.before_dump(lambda: setattr(registry.gauge("copse_index_campaigns"), "value", count))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    answers = {"metrics": registry.dump, "status": lambda: {"count": count}}
    async with Peer(directory, worker, answers) as peer:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if deaf:
            time.sleep(60)
        await ended.wait()
        registry.counter("copse_requests_total", "match", "200").add(1)
        await record_final_counts(directory, peer, registry)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("worker")
    parser.add_argument("count", type=int)
    parser.add_argument("--deaf", action="store_true")
    options = parser.parse_args()
    uvloop.run(work(options.directory, options.worker, options.count, options.deaf))


if __name__ == "__main__":
    main()
