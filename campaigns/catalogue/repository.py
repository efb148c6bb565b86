"""`attributes`. Whoever writes here holds the head, so nobody else does."""

from dataclasses import asdict

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.catalogue.model import AttributeRecord
from campaigns.database.tables import AttributeRow

_COLUMNS = (
    AttributeRow.name,
    AttributeRow.type,
    AttributeRow.description,
    AttributeRow.version,
    AttributeRow.rev,
    AttributeRow.created_at,
    AttributeRow.updated_at,
)


async def every(connection: AsyncConnection) -> list[AttributeRecord]:
    """All of them, by name."""
    rows = await connection.execute(select(*_COLUMNS))
    return sorted((AttributeRecord(*row) for row in rows), key=lambda record: record.name)


async def get(connection: AsyncConnection, name: str) -> AttributeRecord | None:
    """An attribute."""
    if "\0" in name:
        return None  # Postgres refuses to look for it
    row = (await connection.execute(select(*_COLUMNS).where(AttributeRow.name == name))).first()
    return None if row is None else AttributeRecord(*row)


async def add(connection: AsyncConnection, attribute: AttributeRecord) -> None:
    """Insert an attribute."""
    await connection.execute(insert(AttributeRow).values(asdict(attribute)))


async def change(connection: AsyncConnection, attribute: AttributeRecord) -> None:
    """Write all columns of an attribute."""
    await connection.execute(
        update(AttributeRow).where(AttributeRow.name == attribute.name).values(asdict(attribute))
    )


async def remove(connection: AsyncConnection, name: str) -> None:
    """Remove an attribute."""
    await connection.execute(delete(AttributeRow).where(AttributeRow.name == name))
