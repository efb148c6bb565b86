"""`idempotency`."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import IdempotencyRow


@dataclass(frozen=True, slots=True)
class Record:
    """A request that was marked: in flight while `status` is None."""

    request_hash: str
    token: str
    status: int | None
    body: str | None
    headers: dict[str, str] | None
    locked_until: datetime


_COLUMNS = (
    IdempotencyRow.request_hash,
    IdempotencyRow.token,
    IdempotencyRow.status,
    IdempotencyRow.body,
    IdempotencyRow.headers,
    IdempotencyRow.locked_until,
)


async def add(
    connection: AsyncConnection, key_id: int, key: str, record: Record, created_at: datetime
) -> bool:
    """Insert a record; False if there is one already."""
    on_postgres = connection.dialect.name == "postgresql"
    insert = postgresql.insert if on_postgres else sqlite.insert
    added = await connection.execute(
        insert(IdempotencyRow)
        .values(
            key_id=key_id,
            key=key,
            request_hash=record.request_hash,
            token=record.token,
            locked_until=record.locked_until,
            created_at=created_at,
        )
        .on_conflict_do_nothing()
        .returning(IdempotencyRow.token)
    )
    return added.first() is not None


async def lock(connection: AsyncConnection, key_id: int, key: str) -> Record | None:
    """A record that nobody else can write until the transaction ends."""
    query = (
        select(*_COLUMNS)
        .where(IdempotencyRow.key_id == key_id, IdempotencyRow.key == key)
        .with_for_update()
    )
    row = (await connection.execute(query)).first()
    return None if row is None else Record(*row)


async def take_over(
    connection: AsyncConnection, key_id: int, key: str, token: str, locked_until: datetime
) -> None:
    """Give a locked record to another holder."""
    await connection.execute(
        update(IdempotencyRow)
        .where(IdempotencyRow.key_id == key_id, IdempotencyRow.key == key)
        .values(token=token, locked_until=locked_until)
    )


async def complete(
    connection: AsyncConnection,
    key_id: int,
    key: str,
    token: str,
    status: int,
    body: str,
    headers: dict[str, str],
) -> bool:
    """Store the answer; False if the holder of `token` holds the record no more."""
    done = await connection.execute(
        update(IdempotencyRow)
        .where(
            IdempotencyRow.key_id == key_id,
            IdempotencyRow.key == key,
            IdempotencyRow.token == token,
            IdempotencyRow.status.is_(None),
        )
        .values(status=status, body=body, headers=headers)
    )
    return done.rowcount == 1


async def release(connection: AsyncConnection, key_id: int, key: str, token: str) -> None:
    """Remove a record that is in flight and ours."""
    await connection.execute(
        delete(IdempotencyRow).where(
            IdempotencyRow.key_id == key_id,
            IdempotencyRow.key == key,
            IdempotencyRow.token == token,
            IdempotencyRow.status.is_(None),
        )
    )


async def forget(connection: AsyncConnection, before: datetime) -> int:
    """Remove records made before a moment; how many there were."""
    removed = await connection.execute(
        delete(IdempotencyRow).where(IdempotencyRow.created_at < before)
    )
    return int(removed.rowcount)
