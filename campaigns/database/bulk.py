"""Many rows at once: by COPY on Postgres, prepared once on SQLite."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import Base

_COPY_FROM = 20
"""From so many rows on COPY, which first asks for the types of the columns, is faster."""


async def insert_rows(
    connection: AsyncConnection,
    table: type[Base],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Insert rows whose values stand in the order of `columns`, as Python values."""
    if not rows:
        return
    if connection.dialect.name != "postgresql" or len(rows) < _COPY_FROM:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        await connection.execute(insert(table), named if len(named) > 1 else named[0])
        return
    write = [_writer(connection, table, column) for column in columns]
    records = [
        tuple(value if to is None else to(value) for to, value in zip(write, row, strict=True))
        for row in rows
    ]
    driver: Any = (await connection.get_raw_connection()).driver_connection
    await driver.copy_records_to_table(table.__tablename__, columns=columns, records=records)


def _writer(connection: AsyncConnection, table: type[Base], column: str) -> Any:
    """How SQLAlchemy writes a value of this column, which COPY goes past; None for "as it is"."""
    kind = table.__table__.columns[column].type
    return kind.dialect_impl(connection.dialect).bind_processor(connection.dialect)
