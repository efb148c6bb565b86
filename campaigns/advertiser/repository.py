"""`advertisers`."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Row, Select, bindparam, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.advertiser.model import Advertiser
from campaigns.database.tables import AdvertiserRow
from campaigns.fields import is_id

_COLUMNS = [getattr(AdvertiserRow, name) for name in Advertiser.columns()]
_BY_ID = select(*_COLUMNS).where(AdvertiserRow.id == bindparam("wanted_id"))


async def get(connection: AsyncConnection, id: int) -> Advertiser | None:
    """An advertiser."""
    return await _one(connection, id, _BY_ID)


async def lock(connection: AsyncConnection, id: int, to_remove: bool = False) -> Advertiser | None:
    """An advertiser, locked until the transaction ends. With `to_remove`, no other transaction can
    add a campaign to it either."""
    return await _one(connection, id, _BY_ID.with_for_update(key_share=not to_remove))


async def _one(connection: AsyncConnection, id: int, query: Select[Any]) -> Advertiser | None:
    row = (await connection.execute(query, {"wanted_id": id})).first() if is_id(id) else None
    return None if row is None else _advertiser(row)


def _advertiser(row: Row[Any]) -> Advertiser:
    values = row._asdict()
    return Advertiser(**{**values, "apps": tuple(values["apps"] or ())})


async def hold(connection: AsyncConnection, ids: Collection[int]) -> set[int]:
    """The ids that exist; none of them can be removed until the transaction ends."""
    query = (
        select(AdvertiserRow.id)
        .where(AdvertiserRow.id.in_(sorted(ids)))
        .order_by(AdvertiserRow.id)
        .with_for_update(read=True, key_share=True)
    )
    return set((await connection.execute(query)).scalars())


async def page(
    connection: AsyncConnection,
    status: str | None,
    words: str | None,
    after: int | None,
    limit: int,
) -> list[Advertiser]:
    """Advertisers by id, from after one id on."""
    query = select(*_COLUMNS).order_by(AdvertiserRow.id).limit(limit)
    if after is not None:
        query = query.where(AdvertiserRow.id > after)
    if status is not None:
        query = query.where(AdvertiserRow.status == status)
    if words is not None:
        searched = (AdvertiserRow.name, AdvertiserRow.domain)
        query = query.where(or_(*(c.icontains(words, autoescape=True) for c in searched)))
    return [_advertiser(row) for row in await connection.execute(query)]


async def add(connection: AsyncConnection, values: dict[str, Any]) -> Advertiser:
    """Insert an advertiser; the database assigns its id."""
    added = await connection.execute(insert(AdvertiserRow).values(values).returning(*_COLUMNS))
    return _advertiser(added.one())


async def change(connection: AsyncConnection, advertiser: Advertiser) -> None:
    """Write all columns of an advertiser that this transaction has locked."""
    values = {name: getattr(advertiser, name) for name in Advertiser.columns() if name != "id"}
    await connection.execute(
        update(AdvertiserRow).where(AdvertiserRow.id == advertiser.id).values(values)
    )


async def remove(connection: AsyncConnection, id: int) -> None:
    """Remove an advertiser."""
    await connection.execute(delete(AdvertiserRow).where(AdvertiserRow.id == id))
