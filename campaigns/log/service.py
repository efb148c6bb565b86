"""The log as a whole: its head, a new epoch, pruning, and the digest of the active campaigns."""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from campaigns.campaign import repository as campaign
from campaigns.database.retry import retried
from campaigns.log import head
from campaigns.log import repository as log
from campaigns.log.head import Head
from campaigns.store import Store

FEED = "feed"
"""The kind of audit entries about the log itself."""

_A_TRANSACTION = 10_000
"""How many changes one transaction removes."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of the active campaigns of the database at a rev."""

    epoch: str
    rev: int
    count: int
    digest: int


async def read_head(store: Store) -> Head:
    """The head of the log."""
    async with store.database.read() as connection:
        return await head.read(connection)


async def check_writable(store: Store) -> None:
    """Fail if the database has no tables, or is read-only."""
    async with store.database.write() as connection:
        await head.touch(connection)


@retried
async def new_epoch(store: Store, actor: str) -> Head:
    """Start another history after the database was restored. A replica that holds changes which the
    restored log does not have loads everything; any other goes on."""
    async with store.database.write() as connection:
        new = await head.set_epoch(connection, new_epoch_name(), secrets.token_hex(32))
        await log.append_audit(connection, new.rev, actor, store.now(), "new-epoch", FEED)
    return new


def new_epoch_name() -> str:
    """A unique name."""
    return secrets.token_hex(8)


@retried
async def prune(
    store: Store, keep_changes: int | None = None, keep_for: timedelta | None = None
) -> int:
    """Remove changes before the last `keep_changes`, and changes older than `keep_for`; returns how
    many. The last change always stays."""
    if keep_changes is not None and keep_changes < 1:
        raise ValueError(f"at least one change must be kept, not {keep_changes}")
    oldest_kept = None if keep_for is None else (store.now() - keep_for).timestamp()
    removed = 0
    while True:
        async with store.database.read() as connection:
            last = (await head.read(connection)).rev
            oldest = await log.oldest_changes(connection, _A_TRANSACTION)
        cut = 0
        for rev, at in oldest:
            too_many = keep_changes is not None and rev <= last - keep_changes
            too_old = oldest_kept is not None and at < oldest_kept
            if rev >= last or not (too_many or too_old):
                break
            cut = rev
        if not cut:
            return removed
        async with store.database.write() as connection:
            removed += await log.remove_changes(connection, cut)
            await head.set_pruned(connection, cut)


async def digest(store: Store, digest_of: Callable[[Iterable[tuple[int, int]]], int]) -> Digest:
    """The digest of (id, version) of all active campaigns, and its rev."""
    async with store.database.repeatable_read() as connection:
        end = await head.read(connection)
        ids, versions = await campaign.active_versions(connection)
    return Digest(end.epoch, end.rev, len(ids), digest_of(zip(ids, versions, strict=True)))
