"""Looking at the log in tests."""

from sqlalchemy import select

from campaigns.database.tables import ChangeRow
from campaigns.log import head
from campaigns.log.changes import Change
from campaigns.store import Store


async def all_changes(store: Store) -> list[Change]:
    """The whole log."""
    async with store.database.read() as connection:
        rows = await connection.execute(
            select(*ChangeRow.__table__.columns).order_by(ChangeRow.rev)
        )
    return [
        Change(row.rev, row.kind, row.object_id, row.nonce, row.payload.encode(), row.at)
        for row in rows
    ]


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
