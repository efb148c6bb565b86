"""The write protocol: how a transaction gets its revs, and why the log is in order without gaps.

    writing(…)          ── BEGIN
      row work             lock and check the rows; invisible to others
      take(n)           ── UPDATE feed_head SET rev = rev + n     from here on, the only writer
      rows, with their rev
      append(entries)   ── changes and audit entries
                        ── COMMIT, which also sends the NOTIFY

For a single row, `update` does the two steps before the commit in one statement.

The row of the head stays locked from `take` to the commit, so revs become visible in the order in
which they were taken; a rollback returns them, since they are only a column in a row. A sequence
could do neither: a late commit would appear behind readers that have passed it.

A transaction that holds the head must not wait for another lock: it locks all its rows before.

Targeting is checked before the transaction, against the catalogue that was read last. If `take`
finds that it is not the current one, the transaction is rolled back and everything is done again
with the current one (`checked`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.catalogue.model import Catalogue
from campaigns.errors import Contended, InvalidFields
from campaigns.log import head
from campaigns.log import repository as log
from campaigns.log.repository import LogEntry, RowUpdate
from campaigns.store import Store

T = TypeVar("T")

ATTEMPTS = 10


class Moved(Exception):
    """The state has changed since the check before the transaction: check again."""


class Writing:
    """A write transaction; `at` is the time of all its writes."""

    def __init__(self, connection: AsyncConnection, actor: str, at: datetime) -> None:
        self.connection = connection
        self.actor = actor
        self.at = at
        self._next = 0
        self._last = -1

    async def take(
        self, revs: int, checked: Catalogue | None = None, changes_catalogue: bool = False
    ) -> int:
        """Take the next `revs` revs; returns the first. `checked` is the catalogue that the
        targeting was checked against: `Moved` if it is not the current one."""
        new = await head.advance(self.connection, revs, catalogue=changes_catalogue)
        if checked is not None and checked.stamp != new.catalogue_stamp:
            raise Moved
        self._next, self._last = new.rev - revs + 1, new.rev
        return self._next

    async def append(self, entries: Sequence[LogEntry]) -> None:
        """Write the next changes and their audit entries."""
        await log.append(self.connection, self._next, self.actor, self.at, entries)
        self._next += len(entries)

    async def update(self, row: RowUpdate, values: Mapping[str, Any], entry: LogEntry) -> None:
        """Update a row, and write the next change and its audit entry."""
        await log.append_one(self.connection, self._next, self.actor, self.at, entry, row, values)
        self._next += 1

    def check_complete(self) -> None:
        """Never commit a rev without its change."""
        if self._next != self._last + 1:
            raise AssertionError(f"revs {self._next} to {self._last} have no change")


@asynccontextmanager
async def writing(store: Store, actor: str) -> AsyncIterator[Writing]:
    """A write transaction: all of it commits at the end, or nothing."""
    async with store.database.write() as connection:
        transaction = Writing(connection, actor, store.now())
        yield transaction
        transaction.check_complete()


async def checked(
    store: Store, attempt: Callable[[Catalogue], Awaitable[T]], first_with_last: bool = False
) -> T:
    """Run `attempt` with the current catalogue, again if the catalogue changes meanwhile.

    With `first_with_last`, the first attempt uses the catalogue that was read last, which saves a
    query: `take` detects an old one, and an error against an old one is checked again.
    """
    last = store.last_catalogue
    if first_with_last and last is not None:
        try:
            return await attempt(last)
        except Moved:
            pass
        except InvalidFields:
            if await store.catalogue() is last:
                raise
    for _ in range(ATTEMPTS):
        catalogue = await store.catalogue()
        try:
            return await attempt(catalogue)
        except Moved:
            continue
    raise Contended(ATTEMPTS)
