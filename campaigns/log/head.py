"""The SQL of `feed_head`: the end of the log, and the lock under which revs are assigned."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    Text,
    bindparam,
    cast,
    false,
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
    """The end of the log: its epoch, its last rev, the last rev that was pruned, the rev of the
    catalogue's last change, and the nonce of that change (None if it was pruned)."""

    epoch: str
    rev: int
    pruned_rev: int
    catalogue_rev: int
    catalogue_nonce: str | None

    @property
    def catalogue_stamp(self) -> tuple[str, int, str | None]:
        """A value that differs whenever the catalogue does."""
        return self.epoch, self.catalogue_rev, self.catalogue_nonce


_COLUMNS = (
    FeedHeadRow.epoch,
    FeedHeadRow.rev,
    FeedHeadRow.pruned_rev,
    FeedHeadRow.catalogue_rev,
    select(ChangeRow.nonce).where(ChangeRow.rev == FeedHeadRow.catalogue_rev).scalar_subquery(),
)
_NOTIFY = func.pg_notify(CHANNEL, cast(FeedHeadRow.rev, Text))
"""Wakes the relay when the transaction commits. As a column of the same statement it costs no round
trip. On SQLite, replicas poll."""


class _Change:
    """An update of the head that returns the new one."""

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
_SET_EPOCH = _Change(
    epoch=bindparam("new_epoch", type_=String), stream_secret=bindparam("new_secret", type_=String)
)


async def read(connection: AsyncConnection) -> Head:
    """The current head."""
    return Head(*(await connection.execute(select(*_COLUMNS))).one())


async def advance(connection: AsyncConnection, revs: int, catalogue: bool = False) -> Head:
    """Take the next revs. No other transaction can until this one ends; if it rolls back, they were
    never taken. With `catalogue`, the last of them is the rev of the catalogue's last change."""
    return await (_CHANGE_CATALOGUE if catalogue else _ADVANCE).run(connection, revs=revs)


async def set_epoch(connection: AsyncConnection, epoch: str, secret: str) -> Head:
    """Start another history at this rev, with another secret for its stream."""
    return await _SET_EPOCH.run(connection, new_epoch=epoch, new_secret=secret)


async def touch(connection: AsyncConnection) -> None:
    """Change nothing; it fails on a database that is read-only."""
    await connection.execute(update(FeedHeadRow).where(false()).values(rev=FeedHeadRow.rev))


async def set_pruned(connection: AsyncConnection, rev: int) -> None:
    """Record that the changes up to `rev` are removed; the value never falls."""
    await connection.execute(
        update(FeedHeadRow).where(FeedHeadRow.pruned_rev < rev).values(pruned_rev=rev)
    )
