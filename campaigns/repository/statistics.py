"""`statistics` and `statistics_samples`."""

from typing import Any

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.fields import is_id
from campaigns.statistics.version import COLUMNS, StatisticsVersion
from campaigns.tables import StatisticsRow, StatisticsSampleRow

_COLUMNS = [getattr(StatisticsRow, name) for name in COLUMNS]


async def get(connection: AsyncConnection, id: int) -> StatisticsVersion | None:
    """A version by its id."""
    return await _one(connection, StatisticsRow.id == id) if is_id(id) else None


async def with_checksum(connection: AsyncConnection, checksum: str) -> StatisticsVersion | None:
    """The version with this content."""
    return await _one(connection, StatisticsRow.checksum == checksum)


async def active(connection: AsyncConnection) -> StatisticsVersion | None:
    """The version that steers."""
    return await _one(connection, StatisticsRow.active.is_(True))


async def newest(
    connection: AsyncConnection, below: int | None, limit: int
) -> list[StatisticsVersion]:
    """Versions from the newest on, or from below an id."""
    query = select(*_COLUMNS).order_by(StatisticsRow.id.desc()).limit(limit)
    if below is not None:
        query = query.where(StatisticsRow.id < below)
    return [StatisticsVersion(*row) for row in await connection.execute(query)]


async def document(connection: AsyncConnection, id: int) -> str | None:
    """The document of a version, canonical."""
    if not is_id(id):
        return None
    text: str | None = await connection.scalar(
        select(StatisticsRow.document).where(StatisticsRow.id == id)
    )
    return text


async def sample(connection: AsyncConnection, id: int) -> bytes | None:
    """The sample of a version, compressed."""
    if not is_id(id):
        return None
    content: bytes | None = await connection.scalar(
        select(StatisticsSampleRow.content).where(StatisticsSampleRow.statistics_id == id)
    )
    return content


async def add(
    connection: AsyncConnection, values: dict[str, Any], sample: bytes
) -> StatisticsVersion:
    """Insert a version and its sample; the database gives it its id."""
    added = await connection.execute(insert(StatisticsRow).values(values).returning(*_COLUMNS))
    version = StatisticsVersion(*added.one())
    await connection.execute(
        insert(StatisticsSampleRow).values(statistics_id=version.id, content=sample)
    )
    return version


async def change(connection: AsyncConnection, version: StatisticsVersion) -> None:
    """Write what can change of a version: what the gates said, and whether it steers."""
    await connection.execute(
        update(StatisticsRow)
        .where(StatisticsRow.id == version.id)
        .values(
            gates=version.gates,
            findings=version.findings,
            active=version.active,
            previous_id=version.previous_id,
            activated_at=version.activated_at,
            rev=version.rev,
        )
    )


async def deactivate(connection: AsyncConnection) -> None:
    """Let none steer."""
    await connection.execute(
        update(StatisticsRow).where(StatisticsRow.active.is_(True)).values(active=False)
    )


async def _one(
    connection: AsyncConnection, condition: ColumnElement[bool]
) -> StatisticsVersion | None:
    row = (await connection.execute(select(*_COLUMNS).where(condition))).first()
    return None if row is None else StatisticsVersion(*row)
