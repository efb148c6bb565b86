"""Statements that every write runs: SQLAlchemy compiles their SQL once, the driver runs it.

To look up a compiled statement and to wrap its result costs SQLAlchemy more time than the driver
and Postgres together need for a row. Here the SQL is compiled the first time and kept:

    Core statement ──once──▶ SQL, order and conversion of its parameters, conversion of its columns
    values ──▶ the driver, which keeps it prepared on each connection ──▶ rows

SQLAlchemy begins a transaction with its first statement, so the first statement of a transaction
still goes through it; later ones go to the driver of the same connection. On SQLite everything goes
through SQLAlchemy.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import asyncpg
from sqlalchemy import Delete, Dialect, Insert, Select, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine

from campaigns.database.engine import driver_of

Statement = Select[Any] | Insert | Update | Delete
Row = Sequence[Any]
Form = Callable[[Any], Any] | None
"""The conversion of a value; None if there is none."""


class Prepared:
    """A statement with named parameters; it belongs to no connection."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._postgres: _OnPostgres | None = None

    async def run(self, connection: AsyncConnection, values: Mapping[str, Any]) -> Sequence[Row]:
        """Run the statement with these parameters; returns its rows, if any."""
        if connection.dialect.name != "postgresql":
            result = await connection.execute(self._statement, values)
            return result.all() if result.returns_rows else ()
        if self._postgres is None:
            self._postgres = _OnPostgres(self._statement, connection.dialect)
        return await self._postgres.run(connection, values)


class _OnPostgres:
    def __init__(self, statement: Statement, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self._sql = str(compiled)
        # Parameters that SQLAlchemy made from constants have their values already.
        self._own = {name: value for name, value in compiled.params.items() if value is not None}
        self._writers = [
            (name, _writer(compiled.binds[name].type, dialect))
            for name in compiled.positiontup or ()
        ]
        self._readers = [_reader(each.type, dialect) for each in statement.exported_columns]
        self._reads = any(self._readers)

    async def run(self, connection: AsyncConnection, values: Mapping[str, Any]) -> Sequence[Row]:
        values = {**self._own, **values}
        arguments = tuple(
            values[name] if write is None else write(values[name]) for name, write in self._writers
        )
        driver = driver_of(connection)
        if driver.is_in_transaction():
            try:
                rows = await driver.fetch(self._sql, *arguments)
            except asyncpg.PostgresError as error:
                raise DBAPIError(self._sql, None, error) from error
        else:
            result = await connection.exec_driver_sql(self._sql, arguments)
            rows = result.all() if result.returns_rows else ()
        return [self._read(row) for row in rows] if self._reads else rows

    def _read(self, row: Row) -> Row:
        return tuple(
            value if read is None else read(value)
            for read, value in zip(self._readers, row, strict=True)
        )


def _writer(kind: TypeEngine[Any], dialect: Dialect) -> Form:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _reader(kind: TypeEngine[Any], dialect: Dialect) -> Form:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
