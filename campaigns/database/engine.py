"""The database: an engine for a URL, and the three kinds of transaction.

    read()             what is committed now, statement by statement
    repeatable_read()  one version of everything, however long it takes
    write()            all or nothing; on SQLite it waits for other writers before it reads

Postgres and SQLite are both supported; besides this module, only repositories ask which it is.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Self

import orjson
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from campaigns.database import sessions
from campaigns.errors import BadDatabaseUrl, DatabaseUnavailable

_DRIVERS = {
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
}

SQLITE_BUSY_MS = 30_000
"""How long a write waits for another one on SQLite."""

_POSTGRES_SETTINGS = {"application_name": "copse", **sessions.WRITING}

_UNAVAILABLE = ("08", "28", "3D", "53", "57", "25P03")
"""How Postgres error codes begin: connection, authorization, no such database, resources, operator
intervention (shutting down, starting up, a statement that took too long); a transaction that was
idle for too long."""

_CONFLICTS = {"40P01", "40001"}
"""Deadlock; serialization failure."""


class Database:
    """An engine and its transactions; call `close()` at the end."""

    def __init__(self, url: str, pool_size: int = 5, seconds: float | None = None) -> None:
        """With `seconds`, a transaction on Postgres that takes longer is given up."""
        self.url = driver_url(url)
        self.engine = _engine(self.url, pool_size, seconds)
        self._seconds = seconds if self.is_postgres else None
        # A plain transaction of SQLite sees one version from its first read on.
        self._reading = self._repeatable_read = self._writing = self.engine
        if self.is_postgres:
            # Without a transaction, a read is one round trip instead of three.
            self._reading = self.engine.execution_options(isolation_level="AUTOCOMMIT")
            self._repeatable_read = self.engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        else:
            self._writing = self.engine.execution_options(copse_begin="IMMEDIATE")

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Read what is committed."""
        return self._transaction(self._reading)

    def repeatable_read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Read one version of everything."""
        return self._transaction(self._repeatable_read)

    def write(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Write; commits at the end of the block, rolls back if anything is raised in it."""
        return self._transaction(self._writing)

    @asynccontextmanager
    async def _transaction(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        loop = asyncio.get_running_loop()
        end = None if self._seconds is None else loop.time() + self._seconds
        try:
            async with asyncio.timeout_at(end) as limit, engine.connect() as connection:
                limit.reschedule(None)
                with _closed_at(end, connection):
                    async with connection.begin():
                        yield connection
        except Exception as error:
            if is_unavailable(error):
                late = end is not None and loop.time() >= end
                reason = f"no answer within {self._seconds:g} s" if late else reason_of(error)
                raise DatabaseUnavailable(reason) from error
            raise

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def driver_url(url: str) -> URL:
    """The URL with our driver in it; `BadDatabaseUrl` for an unsupported database."""
    try:
        parsed = make_url(url)
        return parsed.set(drivername=_DRIVERS[parsed.drivername])
    except (ArgumentError, KeyError, ValueError):
        raise BadDatabaseUrl from None


def is_unavailable(error: BaseException) -> bool:
    """Whether an error means that the database is unavailable, not that the query is wrong."""
    if isinstance(error, DBAPIError):
        if error.connection_invalidated or isinstance(error, OperationalError | InterfaceError):
            return True
        return _sqlstate(error.orig).startswith(_UNAVAILABLE)
    if type(error).__module__.startswith("asyncpg"):
        # Connecting and COPY fail with the driver's own errors; one without a state means that
        # the driver lost the connection.
        state = _sqlstate(error)
        return not state or state.startswith(_UNAVAILABLE)
    if isinstance(error, RuntimeError):
        # uvloop says it this way if the peer resets a connection before the driver's first write.
        return "the handler is closed" in str(error)
    return isinstance(error, OSError | PoolTimeout)


def reason_of(error: BaseException) -> str:
    """What the database or its driver says, without the statement and without line breaks."""
    said = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(said).split()) or type(said).__name__


def is_conflict(error: BaseException) -> bool:
    """Whether Postgres aborted a transaction because of another one: a retry may succeed."""
    return _sqlstate(error.orig if isinstance(error, DBAPIError) else error) in _CONFLICTS


def _sqlstate(error: object) -> str:
    return getattr(error, "sqlstate", None) or ""


@contextmanager
def _closed_at(end: float | None, connection: AsyncConnection) -> Iterator[None]:
    """Close the connection at a time. Whatever waits for it then fails at once, where a
    cancellation would make SQLAlchemy wait for the server once more, to say good-bye."""
    if end is None:
        yield
        return
    driver = driver_of(connection)
    closing = asyncio.get_running_loop().call_at(end, driver.terminate)
    try:
        yield
    finally:
        closing.cancel()


def driver_of(connection: AsyncConnection) -> Any:
    """The driver's own connection."""
    sync_connection = connection.sync_connection
    assert sync_connection is not None, "the connection is open"
    return sync_connection.connection.driver_connection


def _engine(url: URL, pool_size: int, seconds: float | None) -> AsyncEngine:
    options: dict[str, Any] = {
        "json_serializer": lambda value: orjson.dumps(value).decode(),
        "json_deserializer": orjson.loads,
    }
    if url.get_backend_name() == "postgresql":
        settings = dict(_POSTGRES_SETTINGS)
        if seconds is not None:
            # Nobody waits for a statement that takes longer; its locks must not wait either.
            settings["statement_timeout"] = str(int(seconds * 1000))
        engine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,  # overflow connections would be opened and closed for each write
            isolation_level="READ COMMITTED",
            connect_args={"server_settings": settings},
            **options,
        )
        event.listen(engine.sync_engine, "connect", _probe_postgres)
        event.listen(engine.sync_engine, "checkout", _check_postgres)
        return engine
    engine = create_async_engine(url, **options)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _probe_postgres(_: object, record: ConnectionPoolEntry) -> None:
    sessions.probe(record.driver_connection)


def _check_postgres(_: object, record: ConnectionPoolEntry, __: object) -> None:
    """Never hand out a connection that Postgres has closed. The driver knows this without the round
    trip of a ping."""
    driver: Any = record.driver_connection
    if driver.is_closed():
        raise DisconnectionError


def _prepare_sqlite(connection: Any, _: object) -> None:
    # The driver must not begin transactions by itself, which it would after the first read.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {SQLITE_BUSY_MS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    mode = connection.get_execution_options().get("copse_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")
