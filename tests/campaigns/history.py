"""Looking at the log in tests."""

from campaigns.log import head
from campaigns.log import repository as log
from campaigns.log.changes import Change
from campaigns.store import Store


async def all_changes(store: Store) -> list[Change]:
    """The whole log."""
    async with store.database.read() as connection:
        return await log.changes_after(connection, 0, 1_000_000)


async def changes_of(store: Store, kind: str) -> list[Change]:
    """The changes of a kind."""
    return [change for change in await all_changes(store) if change.kind == kind]


async def assert_dense(store: Store) -> None:
    """The revs are 1, 2, 3 … up to the head, and no nonce is there twice."""
    changes = await all_changes(store)
    async with store.database.read() as connection:
        end = await head.read(connection)
    assert [change.rev for change in changes] == list(range(1, end.rev + 1))
    assert len({change.nonce for change in changes}) == len(changes)
