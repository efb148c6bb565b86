"""The lease: one of all workers runs the relay.

It is an advisory lock of Postgres, held by a connection of its own; whatever ends the connection,
even `kill -9`, also ends the lease. The same connection listens for commits. Two holders for a
moment do no harm, since Redis refuses an id that it has, so there is no fencing.

On SQLite there is no relay and so no lease: without `NOTIFY` a relay could only poll the file that
each replica on the machine polls itself.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from campaigns.backoff import jitter
from campaigns.database.locks import AdvisoryLock
from campaigns.feed.postgres import Connection, connect
from campaigns.log.changes import CHANNEL

log = logging.getLogger(__name__)

_TRY = "SELECT pg_try_advisory_lock($1)"

TRY_SECONDS = 1.0
ALIVE_SECONDS = 1.0
ANSWER_SECONDS = 3.0


class Lease:
    """A lease that is held: `lost` is set when it ends, `woken` at each commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.lost = asyncio.Event()
        self.woken = asyncio.Event()

    async def hold_while(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work while the lease is held; cancel it when the lease is lost."""
        tasks: set[asyncio.Task[Any]] = {
            asyncio.create_task(work),
            asyncio.create_task(self.lost.wait()),
            asyncio.create_task(self._keep_alive()),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _keep_alive(self) -> None:
        """Query regularly: otherwise a connection that was cut silently looks alive."""
        while not self.lost.is_set():
            await asyncio.sleep(ALIVE_SECONDS)
            await self._connection.fetchval("SELECT 1", timeout=ANSWER_SECONDS)

    def _on_change(self, *_: object) -> None:
        self.woken.set()

    def _on_end(self, *_: object) -> None:
        self.lost.set()
        self.woken.set()

    @classmethod
    async def acquire(cls, url: str) -> "Lease":
        """Wait until no other worker holds the lease, then hold it. Errors are raised."""
        connection = await connect(url, ANSWER_SECONDS)
        lease = cls(connection)
        try:
            connection.add_termination_listener(lease._on_end)
            while not await connection.fetchval(_TRY, AdvisoryLock.RELAY):
                await asyncio.sleep(TRY_SECONDS * jitter())
            # Only now: every commit would wake a waiting worker for nothing.
            await connection.add_listener(CHANNEL, lease._on_change)
        except BaseException:
            connection.terminate()
            raise
        return lease

    def release(self) -> None:
        """Give the lease back by closing the connection."""
        self._connection.terminate()
