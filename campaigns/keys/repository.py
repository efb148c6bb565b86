"""`api_keys`."""

from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import ApiKeyRow
from campaigns.fields import is_id
from campaigns.keys.model import ApiKey

_COLUMNS = [getattr(ApiKeyRow, name) for name in ApiKey.columns()]


async def every(connection: AsyncConnection) -> list[ApiKey]:
    """All keys, revoked ones too, in the order of creation."""
    rows = await connection.execute(select(*_COLUMNS).order_by(ApiKeyRow.id))
    return [_key(row) for row in rows]


async def get(connection: AsyncConnection, id: int) -> ApiKey | None:
    """A key."""
    row = (await connection.execute(select(*_COLUMNS).where(ApiKeyRow.id == id))).first()
    return None if row is None else _key(row)


async def lock(connection: AsyncConnection, id: int) -> ApiKey | None:
    """A key, locked until the transaction ends."""
    if not is_id(id):
        return None
    query = select(*_COLUMNS).where(ApiKeyRow.id == id).with_for_update()
    row = (await connection.execute(query)).first()
    return None if row is None else _key(row)


async def add(connection: AsyncConnection, values: dict[str, Any]) -> ApiKey:
    """Insert a key; the database assigns its id."""
    added = await connection.execute(insert(ApiKeyRow).values(values).returning(*_COLUMNS))
    return _key(added.one())


async def change(connection: AsyncConnection, key: ApiKey) -> None:
    """Write the columns that a revocation changes."""
    await connection.execute(
        update(ApiKeyRow)
        .where(ApiKeyRow.id == key.id)
        .values(revoked_at=key.revoked_at, version=key.version, rev=key.rev)
    )


def _key(row: Any) -> ApiKey:
    values = row._asdict()
    values["scopes"] = tuple(values["scopes"])
    return ApiKey(**values)
