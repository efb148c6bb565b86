"""The store, for commands that work on the database without a server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy.exc import ProgrammingError

from app.settings import Settings
from campaigns.database.engine import Database
from campaigns.errors import CampaignsError, DatabaseUnavailable
from campaigns.store import Store

T = TypeVar("T")

_UNDEFINED_TABLE = "42P01"

ACTOR = "cli"
"""The actor in the audit log."""


class NoTables(CampaignsError):
    """The database is empty."""

    def __init__(self) -> None:
        super().__init__("the database has no tables; create them with: copse migrate")


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Run `work` with the store of the settings."""

    async def run() -> T:
        async with Database(settings.database_url) as database:
            return await work(Store(database, settings.limits))

    try:
        return asyncio.run(run())
    except (DatabaseUnavailable, ProgrammingError) as error:
        if _has_no_tables(error):
            raise NoTables from error
        raise


def _has_no_tables(error: DatabaseUnavailable | ProgrammingError) -> bool:
    if isinstance(error, DatabaseUnavailable):
        return "no such table" in error.reason  # SQLite
    return getattr(error.orig, "sqlstate", None) == _UNDEFINED_TABLE
