"""A worker: a process with a `WorkerFeed` that records when its view reached each rev.

    python -m bench.feed.worker DATABASE_URL [REDIS_URL]
    {"rev": 4711}  ──▶  {"arrivals": [[rev, moment]…], "rev": 4711, "digest": …, "counts": {…}}

An arrival means that everything up to its rev is visible from that time on (CLOCK_MONOTONIC, in
nanoseconds); changes that were applied together have one arrival, for the last. It is recorded by a
task that waits as a request with `min_rev` does, so it is never earlier than the time from which a
match includes the change.
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
"""Seconds after which an unseen rev counts as lost."""


class Watch:
    """Records each arrival in a follower's view."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self.rev = -1
        self.arrivals: list[tuple[int, int]] = []

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            view = await self._follower.reached(self.rev + 1)
            # Read the rev before the clock: a change applied in between must not seem earlier.
            self.rev = view.place.rev
            self.arrivals.append((self.rev, time.monotonic_ns()))

    async def seen(self, rev: int) -> None:
        """Wait until a rev is recorded; raises `TimeoutError`."""
        async with asyncio.timeout(LONGEST):
            while self.rev < rev:
                await asyncio.sleep(0.02)


async def main(database_url: str, redis_url: str | None) -> None:
    """Follow the feed and answer the parent's requests."""
    async with WorkerFeed(database_url, redis_url) as feed:
        follower = feed.follower
        watch = Watch(follower)
        watching = asyncio.create_task(watch.run())
        async for request in requests():
            await watch.seen(request["rev"])
            state = follower.describe()
            answer = {name: state[name] for name in ("rev", "digest", "campaigns", "counts")}
            answer |= {"poisoned": len(state["poisoned"]), "cpu": time.process_time()}
            tell(answer | {"arrivals": watch.arrivals})
            watch.arrivals = []
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # Redis is stopped on purpose
    uvloop.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
