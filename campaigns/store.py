"""`Store`, the first argument of every operation: a database, the language's limits, a clock, and
the analyst, which parses expressions."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from campaigns.analyst import Analyst
from campaigns.campaign.categories import for_targeting
from campaigns.catalogue import repository as attribute
from campaigns.catalogue.model import Catalogue, schema_of
from campaigns.database.engine import Database
from campaigns.log import head
from index import Limits

T = TypeVar("T")


def utc_now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


class Store:
    """The campaigns of one database. Its only state is the catalogue that it read last."""

    def __init__(
        self,
        database: Database,
        limits: Limits = Limits(),  # noqa: B008 (immutable)
        now: Callable[[], datetime] = utc_now,
        analyst: Analyst | None = None,
    ) -> None:
        self.database = database
        self.limits = for_targeting(limits)
        self.now = now
        self._analyst = analyst
        self._catalogue: Catalogue | None = None

    async def analyse(self, size: int, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function of a module outside of the event loop; `size` is that of the expressions
        in characters."""
        if self._analyst is None:
            return await asyncio.to_thread(function, *arguments)
        return await self._analyst.run(size, function, *arguments)

    @property
    def last_catalogue(self) -> Catalogue | None:
        """The catalogue that was read last, which may be out of date."""
        return self._catalogue

    async def catalogue(self) -> Catalogue:
        """The current catalogue; its rows are read only if it has changed."""
        known = self._catalogue
        if known is not None:
            async with self.database.read() as connection:
                if (await head.read(connection)).catalogue_stamp == known.stamp:
                    return known
        async with self.database.repeatable_read() as connection:
            stamp = (await head.read(connection)).catalogue_stamp
            attributes = await attribute.every(connection)
        schema = schema_of((record.name, record.type) for record in attributes)
        self._catalogue = Catalogue(*stamp, schema)
        return self._catalogue
