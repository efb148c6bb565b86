"""The store, for commands that work on the database without a server."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from typing import TypeVar

from alembic.util.exc import CommandError
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import ProgrammingError

from app.settings import Settings
from campaigns.database.engine import Database, driver_url, is_unavailable, reason_of
from campaigns.errors import CampaignsError, DatabaseUnavailable
from campaigns.store import Store
from migrations.run import upgrade

T = TypeVar("T")

_UNDEFINED_TABLE = "42P01"

ACTOR = "cli"
"""The actor in the audit log."""


class NoTables(CampaignsError):
    """The database is empty."""

    def __init__(self) -> None:
        super().__init__("the database has no tables; create them with: copse migrate")


class NotMigrated(CampaignsError):
    """The database has a revision that this version does not know."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; was it migrated by a newer version of Copse?")


def migrate(settings: Settings) -> None:
    """Bring the tables up to the latest revision."""
    _check_file(settings.database_url)
    try:
        upgrade(settings.database_url)
    except CommandError as error:
        raise NotMigrated(str(error)) from error
    except Exception as error:
        if is_unavailable(error):
            raise DatabaseUnavailable(reason_of(error)) from error
        raise


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Run `work` with the store of the settings."""

    async def run() -> T:
        async with Database(settings.database_url) as database:
            return await work(Store(database, settings.limits))

    _check_file(settings.database_url)
    try:
        return asyncio.run(run())
    except (DatabaseUnavailable, ProgrammingError) as error:
        if _has_no_tables(error):
            raise NoTables from error
        raise


def _check_file(database_url: str) -> None:
    """Fail now if a SQLite file cannot be opened: aiosqlite would print a traceback as well."""
    url = driver_url(database_url)
    if url.get_backend_name() == "sqlite":
        (file,), options = SQLiteDialect_pysqlite().create_connect_args(url)
        try:
            sqlite3.connect(file, **options).close()
        except sqlite3.OperationalError as error:
            raise DatabaseUnavailable(str(error)) from error


def _has_no_tables(error: DatabaseUnavailable | ProgrammingError) -> bool:
    if isinstance(error, DatabaseUnavailable):
        return "no such table" in error.reason  # SQLite
    return getattr(error.orig, "sqlstate", None) == _UNDEFINED_TABLE
