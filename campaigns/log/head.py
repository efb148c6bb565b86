"""`feed_head`: the end of the log, and the lock under which revs are handed out."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    Text,
    bindparam,
    cast,
    func,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.prepared import Prepared
from campaigns.database.tables import ChangeRow, FeedHeadRow
from campaigns.log.changes import CHANNEL


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: its epoch, its last rev, up to where the log has been pruned, when the
    catalogue last changed, and the nonce of that change, None where the log does not reach back so
    far."""

    epoch: str
    rev: int
    pruned_rev: int
    catalogue_rev: int
    catalogue_nonce: str | None

    @property
    def catalogue_stamp(self) -> tuple[str, int, str | None]:
        """What differs whenever the catalogue does."""
        return self.epoch, self.catalogue_rev, self.catalogue_nonce


_COLUMNS = (
    FeedHeadRow.epoch,
    FeedHeadRow.rev,
    FeedHeadRow.pruned_rev,
    FeedHeadRow.catalogue_rev,
    select(ChangeRow.nonce).where(ChangeRow.rev == FeedHeadRow.catalogue_rev).scalar_subquery(),
)
_NOTIFY = func.pg_notify(CHANNEL, cast(FeedHeadRow.rev, Text))
"""Wakes those who follow the log when the transaction commits. As a column of the same statement
it costs no round trip. SQLite's followers have to look."""


class _Change:
    """An update of the head that gives the new one."""

    def __init__(self, **values: ColumnElement[Any]) -> None:
        changed = update(FeedHeadRow).values(values)
        self._quiet = Prepared(changed.returning(*_COLUMNS))
        self._notifying = Prepared(changed.returning(*_COLUMNS, _NOTIFY))

    async def run(self, connection: AsyncConnection, **values: object) -> Head:
        on_postgres = connection.dialect.name == "postgresql"
        change = self._notifying if on_postgres else self._quiet
        ((epoch, rev, pruned_rev, catalogue_rev, nonce, *_),) = await change.run(connection, values)
        return Head(epoch, rev, pruned_rev, catalogue_rev, nonce)


_NEXT_REV = FeedHeadRow.rev + bindparam("revs", type_=BigInteger)
_ADVANCE = _Change(rev=_NEXT_REV)
_CHANGE_CATALOGUE = _Change(rev=_NEXT_REV, catalogue_rev=_NEXT_REV)
_SET_EPOCH = _Change(epoch=bindparam("new_epoch", type_=String))


async def read(connection: AsyncConnection) -> Head:
    """The head as it is."""
    return Head(*(await connection.execute(select(*_COLUMNS))).one())


async def advance(connection: AsyncConnection, revs: int, catalogue: bool = False) -> Head:
    """Take the next revs. Until the transaction ends, nobody else can; if it rolls back, they
    were never taken. With `catalogue` it becomes the moment when the catalogue last changed."""
    return await (_CHANGE_CATALOGUE if catalogue else _ADVANCE).run(connection, revs=revs)


async def set_epoch(connection: AsyncConnection, epoch: str) -> Head:
    """Begin another history from here on."""
    return await _SET_EPOCH.run(connection, new_epoch=epoch)


async def set_pruned(connection: AsyncConnection, rev: int) -> None:
    """Say that the changes up to `rev` are gone; never takes it back."""
    await connection.execute(
        update(FeedHeadRow).where(FeedHeadRow.pruned_rev < rev).values(pruned_rev=rev)
    )
