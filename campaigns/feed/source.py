"""Where a replica reads: the log, and a snapshot of everything. Postgres or SQLite behind it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from campaigns.feed.messages import LogHead, LogRead, ReadLog
from campaigns.log.changes import Change

PAGE = 500
"""So many changes are read from the log at once."""

Row = Sequence[Any]


class NoHead(RuntimeError):
    """The database has no `feed_head`: it was not migrated."""

    def __init__(self) -> None:
        super().__init__("the table feed_head is empty: run the migrations")


class Reading(Protocol):
    """One version of the database, for as long as it is read; `head.nonce` is that of its rev."""

    head: LogHead

    async def rows(self, sql: str) -> Sequence[Row]:
        """All rows of a small query."""

    def stream(self, sql: str, batch: int) -> AsyncIterator[Sequence[Row]]:
        """The rows of a large one, in batches."""

    async def log(self, after: int) -> LogRead:
        """A page of the log."""


class Source(Protocol):
    """A database. It reconnects by itself; what fails is raised, and may be tried again."""

    postgres: bool

    async def read_log(self, asked: ReadLog) -> LogRead:
        """A page of the log, in one statement."""

    def repeatable_read(self) -> AbstractAsyncContextManager[Reading]:
        """One version of everything (repeatable read)."""

    async def close(self) -> None:
        """Let the connections go."""


def log_read(asked: ReadLog, rows: Sequence[Row]) -> LogRead:
    """What the rows of `queries.LOG` say."""
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
