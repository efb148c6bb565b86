"""SQLite as the source of a replica: the driver of the standard library, in a thread.

A statement takes microseconds, so a thread that waits for it is cheaper than an async driver.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import make_url

from campaigns.feed import queries
from campaigns.feed.messages import LogRead, ReadLog
from campaigns.feed.source import PAGE, Reading, Row, log_read

BUSY_SECONDS = 5.0

T = TypeVar("T")


class NotAFile(ValueError):
    """A SQLite database in memory, which only one connection can see."""

    def __init__(self, url: str) -> None:
        super().__init__(f"a replica can follow a database in a file, not {url!r}")
        self.url = url


class SqliteSource:
    """The log and the tables of a SQLite file."""

    postgres = False

    def __init__(self, url: str) -> None:
        name = make_url(url).database
        if not name or name == ":memory:":
            raise NotAFile(url)
        self._path = Path(name).absolute()
        self._thread = _Thread("copse-log")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    async def read_log(self, asked: ReadLog) -> LogRead:
        """A page of the log."""
        return await self._thread.run(lambda: self._read(asked))

    def _read(self, asked: ReadLog) -> LogRead:
        # A backup that replaced the file is another file.
        inode = self._path.stat().st_ino
        if self._connection is not None and self._inode != inode:
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection, self._inode = _connect(self._path), inode
        return log_read(asked, _log(self._connection, asked.after))

    @asynccontextmanager
    async def repeatable_read(self) -> AsyncIterator[Reading]:
        """A connection and a thread of its own, in one transaction."""
        thread = _Thread("copse-load")
        try:
            connection = await thread.run(lambda: _connect(self._path))
            try:
                yield await _SqliteReading.begin(connection, thread)
            finally:
                await thread.run(connection.close)
        finally:
            thread.stop()

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._thread.run(self._connection.close)
            self._connection = None
        self._thread.stop()


class _SqliteReading:
    def __init__(self, connection: sqlite3.Connection, thread: "_Thread", head: LogRead) -> None:
        self._connection = connection
        self._thread = thread
        self.head = head.head

    @classmethod
    async def begin(cls, connection: sqlite3.Connection, thread: "_Thread") -> "_SqliteReading":
        def first() -> LogRead:
            connection.execute("BEGIN")
            row = connection.execute("SELECT rev FROM feed_head").fetchone()
            rev = row[0] if row else 0
            return log_read(ReadLog(rev, ""), _log(connection, rev))

        return cls(connection, thread, await thread.run(first))

    async def rows(self, sql: str) -> Sequence[Row]:
        return await self._thread.run(lambda: self._connection.execute(sql).fetchall())

    async def stream(self, sql: str, batch: int) -> AsyncIterator[Sequence[Row]]:
        cursor = await self._thread.run(lambda: self._connection.execute(sql))
        while rows := await self._thread.run(lambda: cursor.fetchmany(batch)):
            yield rows

    async def log(self, after: int) -> LogRead:
        return await self._thread.run(
            lambda: log_read(ReadLog(after, ""), _log(self._connection, after))
        )


class _Thread:
    """One thread that runs calls in order."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


def _connect(path: Path) -> sqlite3.Connection:
    """Connect for reading, without creating a missing file."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


def _log(connection: sqlite3.Connection, after: int) -> Sequence[Row]:
    rows: Sequence[Row] = connection.execute(queries.LOG, (after, PAGE + 1)).fetchall()
    return rows
