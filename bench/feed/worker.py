"""A worker: a process that follows with a `WorkerFeed` and notes when its view got where.

    python -m bench.feed.worker DATABASE_URL [REDIS_URL]
    {"rev": 4711}  ──▶  {"arrivals": [[rev, moment]…], "rev": 4711, "digest": …, "counts": {…}}

An arrival says that everything up to its rev is visible from that moment (CLOCK_MONOTONIC, in
nanoseconds); of changes that were applied together there is one, for the last. It is noted by a
task that waits like a request with `min_rev` would, so it is the moment from which the worker could
answer a match with the change in it, never an earlier one.
"""

import asyncio
import logging
import sys
import time

import uvloop

from campaigns.feed.follower import Follower
from campaigns.feed.service import WorkerFeed
from testkit.child import requests, tell

LONGEST = 60.0
"""A worker that has not seen a rev after so many seconds has lost it."""


class Watch:
    """Notes each arrival of a follower's view."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self.rev = -1
        self.arrivals: list[tuple[int, int]] = []

    async def run(self) -> None:
        """Watch, until cancelled."""
        while True:
            view = await self._follower.reached(self.rev + 1)
            # The place before the moment: what is applied in between must not seem earlier.
            self.rev = view.place.rev
            self.arrivals.append((self.rev, time.monotonic_ns()))

    async def seen(self, rev: int) -> None:
        """Wait until a rev was noted; `TimeoutError` if it does not come."""
        async with asyncio.timeout(LONGEST):
            while self.rev < rev:
                await asyncio.sleep(0.02)


async def main(database_url: str, redis_url: str | None) -> None:
    """Follow, and tell what was noted each time that the parent asks."""
    async with WorkerFeed(database_url, redis_url) as feed:
        follower = feed.follower
        watch = Watch(follower)
        watching = asyncio.create_task(watch.run())
        async for request in requests():
            await watch.seen(request["rev"])
            told = follower.describe()
            answer = {name: told[name] for name in ("rev", "digest", "campaigns", "counts")}
            answer |= {"poisoned": len(told["poisoned"]), "cpu": time.process_time()}
            tell(answer | {"arrivals": watch.arrivals})
            watch.arrivals = []
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # that Redis goes is no news here
    uvloop.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
