"""The lease: one of all workers runs the relay.

It is an advisory lock of Postgres, held by a session of its own; whatever ends the session, even
`kill -9`, also ends the lease. The same connection listens for commits. The holder must renew it:
Postgres itself ends a session from which it has heard nothing for `LEASE_SECONDS`, so a holder that
is stopped, cut off or gone loses the lease by the server's clock, whatever it still says over TCP.

Two holders for a moment do no harm, since Redis refuses an id that it has, so there is no fencing.

On SQLite there is no relay and so no lease: without `NOTIFY` a relay could only poll the file that
each replica on the machine polls itself.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from campaigns.backoff import jitter
from campaigns.database import sessions
from campaigns.database.locks import AdvisoryLock
from campaigns.feed.postgres import Connection, connect
from campaigns.log.changes import CHANNEL

log = logging.getLogger(__name__)

LEASE_SECONDS = 2.5
RENEW_SECONDS = 0.5
TRY_SECONDS = 0.5

_TRY = "SELECT pg_try_advisory_lock($1)"
_END_IF_SILENT = f"SET idle_session_timeout = '{LEASE_SECONDS}s'"


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
            asyncio.create_task(self._renew()),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    async def _renew(self) -> None:
        """Any query renews the lease. Without an answer, another worker may hold it already."""
        while not self.lost.is_set():
            await asyncio.sleep(RENEW_SECONDS)
            await self._connection.fetchval("SELECT 1")

    def _on_change(self, *_: object) -> None:
        self.woken.set()

    def _on_end(self, *_: object) -> None:
        self.lost.set()
        self.woken.set()

    @classmethod
    async def acquire(cls, url: str) -> "Lease":
        """Wait until no other worker holds the lease, then hold it. Errors are raised."""
        connection = await connect(url, LEASE_SECONDS, sessions.SETTINGS)
        lease = cls(connection)
        try:
            connection.add_termination_listener(lease._on_end)
            while not await connection.fetchval(_TRY, AdvisoryLock.RELAY):
                await asyncio.sleep(TRY_SECONDS * jitter())
            await connection.execute(_END_IF_SILENT)
            # Only now: every commit would wake a waiting worker for nothing.
            await connection.add_listener(CHANNEL, lease._on_change)
        except BaseException:
            connection.terminate()
            raise
        return lease

    def release(self) -> None:
        """Give the lease back by closing the connection."""
        self._connection.terminate()
