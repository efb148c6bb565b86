"""The SQL of `attributes`. Its writers hold the lock on the head, so there is one at a time."""

from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.catalogue.model import AttributeRecord
from campaigns.database.tables import AttributeRow

_NAMES = [name for name in AttributeRecord.columns() if name != "built_in"]
_COLUMNS = [getattr(AttributeRow, name) for name in _NAMES]


async def every(connection: AsyncConnection) -> list[AttributeRecord]:
    """All attributes, by name."""
    rows = await connection.execute(select(*_COLUMNS))
    return sorted(map(_record, rows), key=lambda record: record.name)


async def get(connection: AsyncConnection, name: str) -> AttributeRecord | None:
    """An attribute."""
    if "\0" in name:
        return None  # Postgres rejects such a query
    row = (await connection.execute(select(*_COLUMNS).where(AttributeRow.name == name))).first()
    return None if row is None else _record(row)


async def count(connection: AsyncConnection) -> int:
    """The number of attributes."""
    return (await connection.execute(select(func.count()).select_from(AttributeRow))).scalar_one()


async def add(connection: AsyncConnection, attribute: AttributeRecord) -> None:
    """Insert an attribute."""
    await connection.execute(insert(AttributeRow).values(_values(attribute)))


async def change(connection: AsyncConnection, attribute: AttributeRecord) -> None:
    """Write all columns of an attribute."""
    await connection.execute(
        update(AttributeRow).where(AttributeRow.name == attribute.name).values(_values(attribute))
    )


async def remove(connection: AsyncConnection, name: str) -> None:
    """Remove an attribute."""
    await connection.execute(delete(AttributeRow).where(AttributeRow.name == name))


def _record(row: Row[Any]) -> AttributeRecord:
    found = row._asdict()
    values = found.pop("values")
    return AttributeRecord(**found, values=None if values is None else tuple(values))


def _values(attribute: AttributeRecord) -> dict[str, Any]:
    return {name: getattr(attribute, name) for name in _NAMES}
