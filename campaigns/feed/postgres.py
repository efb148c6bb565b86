"""Postgres as the source of a replica, through asyncpg: one connection for the log, one a load."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from campaigns.database import sessions
from campaigns.feed import queries
from campaigns.feed.messages import LogRead, ReadLog
from campaigns.feed.source import PAGE, Reading, Row, log_read

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0
BATCH_SECONDS = 60.0

_LOG = queries.numbered(queries.LOG)
_STREAM_SECRET = queries.numbered(queries.STREAM_SECRET)

Connection = Any
"""asyncpg has no types."""


async def connect(
    url: str, answer_seconds: float = ANSWER_SECONDS, settings: Mapping[str, str] | None = None
) -> Connection:
    """A new connection; a server that does not answer in time counts as failed. `settings` are
    those of its session."""
    scheme, _, rest = url.partition("://")
    connection = await asyncpg.connect(
        f"{scheme.partition('+')[0]}://{rest}",
        timeout=CONNECT_SECONDS,
        command_timeout=answer_seconds,
        server_settings={"application_name": "copse feed", **(settings or {})},
    )
    sessions.probe(connection)
    return connection


class NoSecret(RuntimeError):
    """The database has moved to another epoch, so the stream of this one has no secret."""

    def __init__(self, epoch: str) -> None:
        super().__init__(f"the database has no secret for the stream of epoch {epoch}")


class PostgresSource:
    """The log and the tables of a Postgres database."""

    postgres = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Connection | None = None
        self._turn = asyncio.Lock()

    async def read_log(self, asked: ReadLog) -> LogRead:
        """A page of the log."""
        return log_read(asked, await self._fetch(_LOG, asked.after, PAGE + 1))

    async def stream_secret(self, epoch: str) -> bytes:
        """The secret of the stream of an epoch; `NoSecret`."""
        rows = await self._fetch(_STREAM_SECRET, epoch)
        if not rows:
            raise NoSecret(epoch)
        secret: str = rows[0][0]
        return secret.encode()

    async def _fetch(self, sql: str, *values: object) -> Sequence[Row]:
        """The rows of a query; after an error the next one reconnects."""
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                self._connection = await connect(self._url)
            try:
                rows: Sequence[Row] = await self._connection.fetch(sql, *values)
                return rows
            except BaseException:
                # On any error, also a cancellation, the connection may be in mid-query.
                self._connection.terminate()
                self._connection = None
                raise

    @asynccontextmanager
    async def repeatable_read(self) -> AsyncIterator[Reading]:
        """A connection of its own, in a repeatable-read transaction."""
        connection = await connect(self._url, BATCH_SECONDS)
        try:
            transaction = connection.transaction(isolation="repeatable_read", readonly=True)
            await transaction.start()
            yield await _PostgresReading.begin(connection)
        finally:
            connection.terminate()  # there is nothing to commit, and a server may not answer

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


class _PostgresReading:
    def __init__(self, connection: Connection, head: LogRead) -> None:
        self._connection = connection
        self.head = head.head

    @classmethod
    async def begin(cls, connection: Connection) -> "_PostgresReading":
        rev = await connection.fetchval("SELECT rev FROM feed_head") or 0
        return cls(connection, log_read(ReadLog(rev, ""), await _log(connection, rev)))

    async def rows(self, sql: str) -> Sequence[Row]:
        rows: Sequence[Row] = await self._connection.fetch(sql)
        return rows

    async def stream(self, sql: str, batch: int) -> AsyncIterator[Sequence[Row]]:
        cursor = await self._connection.cursor(sql)
        while rows := await cursor.fetch(batch):
            yield rows

    async def log(self, after: int) -> LogRead:
        return log_read(ReadLog(after, ""), await _log(self._connection, after))


async def _log(connection: Connection, after: int) -> Sequence[Row]:
    rows: Sequence[Row] = await connection.fetch(_LOG, after, PAGE + 1)
    return rows
