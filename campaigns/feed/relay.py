"""The relay: from the log into the stream of Redis, in the one worker that holds the lease.

It keeps no state that matters: the stream itself shows where it stopped, and Redis refuses an id
that it has. If a relay is killed before or after an `XADD`, the next one goes on from there.

A stream whose last entry is not in the log belongs to a history that is gone (a database restored
from a backup): it is removed, before it misleads a replica. So is a stream with an entry that no
relay wrote, which the relay finds when it reads back what was added.
"""

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from redis.exceptions import ResponseError

from campaigns.backoff import Backoff
from campaigns.feed import stream
from campaigns.feed.lease import Lease
from campaigns.feed.messages import Link, LogRead, ReadLog
from campaigns.feed.postgres import PostgresSource

log = logging.getLogger(__name__)

LENGTH = 10_000
"""About how many entries a stream keeps; replicas that are farther behind read the log."""

BACKLOG = 100
"""How many changes before the head an empty stream starts."""

KEPT_SECONDS = 86_400
"""When the stream of an old epoch, which is no longer written, expires."""

POLL_SECONDS = 1.0
CHECK_SECONDS = 1.0
BACKOFF = Backoff(0.1, 2.0)
"""Short, since the next worker that tries takes a free lease."""
_REFUSED = "equal or smaller"


class Relay:
    """Publishes every change after the last in the stream."""

    def __init__(self, source: PostgresSource, client: Any) -> None:
        self._source = source
        self._client = client
        self._codec: stream.Codec | None = None
        """That of the stream in which the relay has found its place."""

        self._last = ReadLog(0, "")
        self._checked = b""
        """The id of the last entry that was read back."""

        self._check_due = 0.0
        self.published = 0

    async def run(self, woken: asyncio.Event) -> None:
        """Publish at each commit, and at least every second, until cancelled."""
        self._codec = None
        while True:
            woken.clear()
            while await self.publish():
                _stop_if_cancelled()
            _stop_if_cancelled()
            if time.monotonic() >= self._check_due:
                await self.check()
                self._check_due = time.monotonic() + CHECK_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await woken.wait()

    async def publish(self) -> bool:
        """Publish a page of the log; returns whether there is more."""
        page, codec = await self._source.read_log(self._last), self._codec
        if codec is None or page.head.epoch != codec.epoch or page.head.nonce != self._last.nonce:
            codec = await stream.Codec.of(self._source, page.head.epoch)
            page = await self._find_place(codec)
            self._last = ReadLog(page.asked.after, page.head.nonce)
            self._checked = b"%d-0" % page.asked.after
            self._codec = codec
        if not page.changes:
            return False
        pipeline = self._client.pipeline(transaction=False)
        name, previous = stream.key(codec.epoch), page.head.nonce
        for change in page.changes:
            id, fields = codec.encode(Link(previous, change))
            pipeline.xadd(name, fields, id, maxlen=LENGTH, approximate=True)
            previous = change.nonce
        pipeline.expire(name, KEPT_SECONDS)
        for answer in await pipeline.execute(raise_on_error=False):
            if isinstance(answer, ResponseError) and _REFUSED in str(answer):
                self._codec = None  # another relay was faster, or somebody else wrote to the stream
            elif isinstance(answer, Exception):
                raise answer
        if self._codec is None:
            return False
        self._last = ReadLog(page.changes[-1].rev, page.changes[-1].nonce)
        self.published += len(page.changes)
        return self._last.after < page.head.rev

    async def close(self) -> None:
        """Close the connections."""
        await self._source.close()
        await self._client.aclose()

    async def check(self) -> None:
        """Read back what was added to the stream. If some of it is from somebody else, remove the
        stream: the next `publish` starts it again."""
        while self._codec is not None:
            try:
                links = await stream.read(self._client, self._codec, self._checked)
            except stream.ForeignEntry as error:
                log.error("%s: the stream starts again", error)
                await self._client.delete(stream.key(self._codec.epoch))
                self._codec = None
                return
            if not links:
                return
            self._checked = b"%d-0" % links[-1].change.rev

    async def _find_place(self, codec: stream.Codec) -> LogRead:
        """Find where the stream ends in Redis, and read the log from there."""
        epoch, name = codec.epoch, stream.key(codec.epoch)
        try:
            last = await stream.last(self._client, codec)
            if last is not None:
                asked = ReadLog(last.change.rev, last.change.nonce)
                page = await self._source.read_log(asked)
                if page.head.epoch == epoch and page.head.nonce == asked.nonce:
                    return page
                log.warning("the last entry of %s is not in the log: the stream starts again", name)
                await self._client.delete(name)
        except stream.ForeignEntry as error:
            log.error("%s: the stream starts again", error)
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
