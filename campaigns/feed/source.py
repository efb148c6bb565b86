"""Where a replica reads the log and the tables: Postgres or SQLite."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from campaigns.feed.messages import LogHead, LogRead, ReadLog
from campaigns.log.changes import Change

PAGE = 500
"""How many changes one read of the log returns."""

Row = Sequence[Any]


class NoHead(RuntimeError):
    """`feed_head` is empty: the database was not migrated."""

    def __init__(self) -> None:
        super().__init__("the table feed_head is empty: run the migrations")


class Reading(Protocol):
    """A transaction that sees one version of the database; `head.nonce` is the nonce at its rev."""

    head: LogHead

    async def rows(self, sql: str) -> Sequence[Row]:
        """All rows of a small query."""

    def stream(self, sql: str, batch: int) -> AsyncIterator[Sequence[Row]]:
        """The rows of a large query, in batches."""

    async def log(self, after: int) -> LogRead:
        """A page of the log."""


class Source(Protocol):
    """A database. It reconnects by itself; errors are raised, and the call can be retried."""

    postgres: bool

    async def read_log(self, asked: ReadLog) -> LogRead:
        """A page of the log, in one statement."""

    def repeatable_read(self) -> AbstractAsyncContextManager[Reading]:
        """A transaction that sees one version of the database."""

    async def close(self) -> None:
        """Close the connections."""


def log_read(asked: ReadLog, rows: Sequence[Row]) -> LogRead:
    """The result of `queries.LOG`."""
    if not rows:
        raise NoHead
    epoch, head_rev, pruned_rev, *_ = rows[0]
    changes = [
        Change(rev, kind, object_id, nonce, payload.encode(), at)
        for _, _, _, rev, kind, object_id, nonce, payload, at in rows
        if rev is not None
    ]
    nonce = ""
    if changes and changes[0].rev == asked.after:
        nonce = changes.pop(0).nonce
    return LogRead(asked, LogHead(epoch, head_rev, pruned_rev, nonce), tuple(changes))
