"""Bulk inserts: COPY on Postgres, one prepared statement on SQLite."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.engine import driver_of
from campaigns.database.tables import Base

_COPY_FROM = 20
"""From this many rows on, COPY is faster, although it first queries the types of the columns."""


async def insert_rows(
    connection: AsyncConnection,
    table: type[Base],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Insert rows of Python values in the order of `columns`."""
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
    await driver_of(connection).copy_records_to_table(
        table.__tablename__, columns=columns, records=records
    )


def _writer(connection: AsyncConnection, table: type[Base], column: str) -> Any:
    """SQLAlchemy's conversion for this column, which COPY bypasses; None if there is none."""
    kind = table.__table__.columns[column].type
    return kind.dialect_impl(connection.dialect).bind_processor(connection.dialect)
