"""The writer: a process that writes at a fixed rate; a slow write does not delay the next ones.

    python -m bench.feed.writer DATABASE_URL CAMPAIGNS
    {"rate": 200, "seconds": 20}  ──▶  {"writes": [[rev, due, acknowledged]…], "failed": 0, …}

Times are CLOCK_MONOTONIC in nanoseconds, which all processes of a machine share. A write is
acknowledged when the service function returns; that may be long after its commit if this process is
busy with other writes.
"""

import asyncio
import logging
import sys
import time

import uvloop

from bench.feed.writes import Writes
from campaigns.campaign.imports import CREATED, import_batch
from campaigns.store import Store
from testkit.child import Message, requests, tell
from testkit.database import ACTOR, declare, opened
from testkit.workloads import make

CONNECTIONS = 10
TEXTS = 500
_BATCH = 1000

log = logging.getLogger(__name__)


async def main(url: str, campaigns: int) -> None:
    """Create the campaigns, then write on request."""
    async with opened(url, CONNECTIONS) as store:
        workload = make("ads")
        advertisers = await declare(store, workload)
        texts = workload.texts(TEXTS)
        ids = await _import(store, campaigns, advertisers, texts)
        writes = Writes(store, ids, texts)
        tell({"campaigns": len(ids)})
        async for request in requests():
            tell(await _write(writes, request["rate"], request["seconds"]))


async def _import(
    store: Store, campaigns: int, advertisers: list[int], texts: list[str]
) -> list[int]:
    ids: list[int] = []
    for first in range(0, campaigns, _BATCH):
        tell({"progress": [first, campaigns]})
        lines = [
            {
                "name": f"campaign {number}",
                "advertiser_id": advertisers[number % len(advertisers)],
                "status": "active",
                "bid_micros": number,
                "targeting": texts[number % len(texts)],
            }
            for number in range(first, min(first + _BATCH, campaigns))
        ]
        results = await import_batch(store, ACTOR, lines)
        ids += [result.id for result in results if result.outcome == CREATED and result.id]
    return ids


async def _write(writes: Writes, rate: int, seconds: float) -> Message:
    done: list[tuple[int, int, int]] = []
    failed = 0

    async def one(due: float) -> None:
        nonlocal failed
        try:
            written = await writes.next()
        except Exception:
            failed += 1
            log.exception("a write failed")
        else:
            done.append((written.rev, round(due * 1e9), time.monotonic_ns()))

    begin, cpu = time.monotonic(), time.process_time()
    tasks = []
    count = round(rate * seconds)
    for number in range(count):
        due = begin + number / rate
        if number % rate == 0:
            tell({"progress": [number, count]})
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)
    took = time.monotonic() - begin
    cores = (time.process_time() - cpu) / took
    return {"writes": sorted(done), "failed": failed, "seconds": took, "cores": cores}


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
