"""`Store`, the first argument of every operation: a database, the language's limits, a clock, and
the analyst, which parses expressions."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from campaigns.analyst import Analyst
from campaigns.catalogue import repository as attribute
from campaigns.catalogue.knowledge import Knowledge, Seen, seen_in
from campaigns.catalogue.model import Catalogue, schema_of
from campaigns.database.engine import Database
from campaigns.errors import InvalidFields
from campaigns.log import head
from campaigns.operators import repository as operator
from campaigns.statistics import repository as statistics
from campaigns.statistics.document import check
from index import Limits

T = TypeVar("T")


def utc_now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


class Store:
    """The campaigns of one database. Its only state is what it read last: the catalogue, and what
    is known of the values of attributes."""

    def __init__(
        self,
        database: Database,
        limits: Limits = Limits(),  # noqa: B008 (immutable)
        now: Callable[[], datetime] = utc_now,
        analyst: Analyst | None = None,
    ) -> None:
        self.database = database
        self.limits = limits
        self.now = now
        self._analyst = analyst
        self._catalogue: Catalogue | None = None
        self._knowledge: Knowledge | None = None
        self._knowledge_of: tuple[Catalogue, int | None] | None = None

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
            operators = await operator.every(connection)
        pairs = ((record.name, record.type) for record in attributes)
        schema = schema_of(pairs, (each.signature for each in operators))
        values = {each.name: each.values for each in attributes if each.values is not None}
        self._catalogue = Catalogue(*stamp, schema, values)
        return self._catalogue

    async def knowledge(self, catalogue: Catalogue) -> Knowledge:
        """What is known of the values of attributes, by a catalogue and the active statistics."""
        async with self.database.read() as connection:
            id = await statistics.active_id(connection)
            if self._knowledge is not None and self._knowledge_of == (catalogue, id):
                return self._knowledge
            document = None if id is None else await statistics.document(connection, id)
        seen, days = await asyncio.to_thread(_seen_in, document) if document else ({}, "")
        self._knowledge = Knowledge(catalogue.values, seen, days)
        self._knowledge_of = (catalogue, id)
        return self._knowledge


def _seen_in(document: str) -> tuple[dict[str, Seen], str]:
    """What a stored document says; nothing if it is damaged, since it serves for warnings only."""
    try:
        content = orjson.loads(document)
        check(content)
    except (orjson.JSONDecodeError, InvalidFields):
        return {}, ""
    return seen_in(content)
