"""A store for a command that works on the database by itself, no server needed."""

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
"""Who the audit log says it was."""


class NoTables(CampaignsError):
    """The database is there, and empty."""

    def __init__(self) -> None:
        super().__init__("the database has no tables yet; make them with: copse migrate")


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do the work with the store that the settings name."""

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
