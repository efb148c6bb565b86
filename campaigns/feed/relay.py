"""The relay: from the log into the stream of Redis, in the one worker that holds the lease.

It keeps no state that matters: the stream itself shows where it stopped, and Redis refuses an id
that it has. If a relay is killed before or after an `XADD`, the next one goes on from there.

A stream whose last entry is not in the log belongs to a history that is gone (a database restored
from a backup): it is removed, before it misleads a replica.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from redis.exceptions import ResponseError

from campaigns.backoff import Backoff
from campaigns.feed import stream
from campaigns.feed.lease import Lease
from campaigns.feed.messages import Link, LogRead, ReadLog
from campaigns.feed.postgres import PostgresSource
from campaigns.feed.source import Source

log = logging.getLogger(__name__)

LENGTH = 10_000
"""About how many entries a stream keeps; replicas that are farther behind read the log."""

BACKLOG = 100
"""How many changes before the head an empty stream starts."""

KEPT_SECONDS = 86_400
"""When the stream of an old epoch, which is no longer written, expires."""

POLL_SECONDS = 1.0
BACKOFF = Backoff(0.1, 5.0)
_REPEATED = "equal or smaller"


class Relay:
    """Publishes every change after the last in the stream."""

    def __init__(self, source: Source, client: Any) -> None:
        self._source = source
        self._client = client
        self._epoch = ""
        self._last = ReadLog(0, "")
        self.published = 0

    async def run(self, woken: asyncio.Event) -> None:
        """Publish at each commit, and at least every second, until cancelled."""
        self._epoch = ""
        while True:
            woken.clear()
            while await self.publish():
                _stop_if_cancelled()
            _stop_if_cancelled()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await woken.wait()

    async def publish(self) -> bool:
        """Publish a page of the log; returns whether there is more."""
        page = await self._source.read_log(self._last)
        if page.head.epoch != self._epoch or page.head.nonce != self._last.nonce:
            page = await self._find_place(page.head.epoch)
            self._last = ReadLog(page.asked.after, page.head.nonce)
        if not page.changes:
            return False
        pipeline = self._client.pipeline(transaction=False)
        name, previous = stream.key(self._epoch), page.head.nonce
        for change in page.changes:
            fields = stream.encode(Link(previous, change))
            pipeline.xadd(name, fields, f"{change.rev}-0", maxlen=LENGTH, approximate=True)
            previous = change.nonce
        pipeline.expire(name, KEPT_SECONDS)
        for answer in await pipeline.execute(raise_on_error=False):
            if isinstance(answer, ResponseError) and _REPEATED in str(answer):
                continue
            if isinstance(answer, Exception):
                raise answer
        self._last = ReadLog(page.changes[-1].rev, page.changes[-1].nonce)
        self.published += len(page.changes)
        return self._last.after < page.head.rev

    async def close(self) -> None:
        """Close the connections."""
        await self._source.close()
        await self._client.aclose()

    async def _find_place(self, epoch: str) -> LogRead:
        """Find where the stream ends in Redis, and read the log from there."""
        self._epoch = epoch
        name = stream.key(epoch)
        entries = await self._client.xrevrange(name, count=1)
        if entries:
            id, fields = entries[0]
            asked = ReadLog(int(id.partition(b"-")[0]), fields.get(b"nonce", b"").decode())
            page = await self._source.read_log(asked)
            if asked.nonce and page.head.epoch == epoch and page.head.nonce == asked.nonce:
                return page
            log.warning("the last entry of the stream %s is not in the log: it starts again", name)
            await self._client.delete(name)
        head = (await self._source.read_log(ReadLog(0, ""))).head
        after = max(head.pruned_rev, head.rev - BACKLOG, 0)
        return await self._source.read_log(ReadLog(after, ""))


def _stop_if_cancelled() -> None:
    """The Redis client can lose a cancellation: it sends with `asyncio.wait_for`, which before
    Python 3.12 returns normally when the two coincide. The loop would then never end."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def keep_relaying(database_url: str, redis_url: str) -> None:
    """Run the relay whenever this worker holds the lease, until cancelled."""
    failures = 0
    while True:
        relay = Relay(PostgresSource(database_url), stream.client(redis_url))
        try:
            lease = await Lease.acquire(database_url)
            log.info("this worker holds the lease and runs the relay")
            try:
                await lease.hold_while(relay.run(lease.woken))
            finally:
                lease.release()
        except Exception as error:
            log.warning("the relay stopped: %s: %s", type(error).__name__, error)
        finally:
            await relay.close()
        failures = 0 if relay.published else failures + 1
        await asyncio.sleep(BACKOFF.delay(failures))
