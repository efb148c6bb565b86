"""`feed_head`: the end of the log, and the lock under which revs are handed out."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Text, cast, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from campaigns.changes import CHANNEL
from campaigns.tables import ChangeRow, FeedHeadRow


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: its epoch, its last rev, when the catalogue last changed, and up to
    where the log has been pruned."""

    epoch: str
    rev: int
    catalogue_rev: int
    pruned_rev: int


_COLUMNS = (
    FeedHeadRow.epoch,
    FeedHeadRow.rev,
    FeedHeadRow.catalogue_rev,
    FeedHeadRow.pruned_rev,
)
_NOTIFY = func.pg_notify(CHANNEL, cast(FeedHeadRow.rev, Text))
"""Wakes those who follow the log when the transaction commits. As a column of the same statement
it costs no round trip. SQLite's followers have to look."""


async def read(connection: AsyncConnection) -> Head:
    """The head as it is."""
    row = (await connection.execute(select(*_COLUMNS))).one()
    return Head(*row)


async def advance(connection: AsyncConnection, revs: int, catalogue: bool = False) -> Head:
    """Take the next revs. Until the transaction ends, nobody else can; if it rolls back, they
    were never taken. With `catalogue` it becomes the moment when the catalogue last changed."""
    rev = FeedHeadRow.rev + revs
    values = {"rev": rev, "catalogue_rev": rev} if catalogue else {"rev": rev}
    return await _change(connection, values)


async def set_epoch(connection: AsyncConnection, epoch: str) -> Head:
    """Begin another history from here on."""
    return await _change(connection, {"epoch": epoch})


async def set_pruned(connection: AsyncConnection, rev: int) -> None:
    """Say that the changes up to `rev` are gone; never takes it back."""
    await connection.execute(
        update(FeedHeadRow).where(FeedHeadRow.pruned_rev < rev).values(pruned_rev=rev)
    )


async def catalogue_stamp(connection: AsyncConnection) -> tuple[str, int, str | None]:
    """The epoch, the rev and the nonce of the change that made the catalogue what it is; the
    nonce is None where the log does not reach back so far."""
    nonce = (
        select(ChangeRow.nonce).where(ChangeRow.rev == FeedHeadRow.catalogue_rev).scalar_subquery()
    )
    stamp = await connection.execute(select(FeedHeadRow.epoch, FeedHeadRow.catalogue_rev, nonce))
    epoch, rev, nonce_or_none = stamp.one()
    return epoch, rev, nonce_or_none


async def _change(connection: AsyncConnection, values: dict[str, Any]) -> Head:
    columns: list[ColumnElement[Any] | InstrumentedAttribute[Any]] = [*_COLUMNS]
    if connection.dialect.name == "postgresql":
        columns.append(_NOTIFY)
    row = (await connection.execute(update(FeedHeadRow).values(values).returning(*columns))).one()
    return Head(*row[: len(_COLUMNS)])
