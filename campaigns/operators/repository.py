"""The SQL of `operators`. Its writers hold the lock on the head, so there is one at a time."""

from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import OperatorRow
from campaigns.operators.model import OperatorRecord

_NAMES = OperatorRecord.columns()
_COLUMNS = [getattr(OperatorRow, name) for name in _NAMES]


async def every(connection: AsyncConnection) -> list[OperatorRecord]:
    """All operators, by name."""
    rows = await connection.execute(select(*_COLUMNS))
    return sorted(map(_record, rows), key=lambda record: record.name)


async def get(connection: AsyncConnection, name: str) -> OperatorRecord | None:
    """An operator."""
    if "\0" in name:
        return None  # Postgres rejects such a query
    row = (await connection.execute(select(*_COLUMNS).where(OperatorRow.name == name))).first()
    return None if row is None else _record(row)


async def count(connection: AsyncConnection) -> int:
    """The number of operators."""
    return (await connection.execute(select(func.count()).select_from(OperatorRow))).scalar_one()


async def add(connection: AsyncConnection, operator: OperatorRecord) -> None:
    """Insert an operator."""
    await connection.execute(insert(OperatorRow).values(_values(operator)))


async def change(connection: AsyncConnection, operator: OperatorRecord) -> None:
    """Write all columns of an operator."""
    await connection.execute(
        update(OperatorRow).where(OperatorRow.name == operator.name).values(_values(operator))
    )


async def remove(connection: AsyncConnection, name: str) -> None:
    """Remove an operator."""
    await connection.execute(delete(OperatorRow).where(OperatorRow.name == name))


def _record(row: Row[Any]) -> OperatorRecord:
    found = row._asdict()
    return OperatorRecord(**{**found, "arguments": tuple(found["arguments"])})


def _values(operator: OperatorRecord) -> dict[str, Any]:
    return {name: getattr(operator, name) for name in _NAMES}
