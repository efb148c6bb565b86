"""The SQL of `statistics` and `statistics_samples`."""

from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import StatisticsRow, StatisticsSampleRow
from campaigns.fields import is_id
from campaigns.statistics.versions import COLUMNS, StatisticsVersion

_COLUMNS = [getattr(StatisticsRow, name) for name in COLUMNS]


async def get(connection: AsyncConnection, id: int) -> StatisticsVersion | None:
    """A version by its id."""
    return await _one(connection, StatisticsRow.id == id) if is_id(id) else None


async def with_checksum(connection: AsyncConnection, checksum: str) -> StatisticsVersion | None:
    """The version with this content."""
    return await _one(connection, StatisticsRow.checksum == checksum)


async def active(connection: AsyncConnection) -> StatisticsVersion | None:
    """The active version."""
    return await _one(connection, StatisticsRow.active.is_(True))


async def active_id(connection: AsyncConnection) -> int | None:
    """The id of the active version."""
    id: int | None = await connection.scalar(
        select(StatisticsRow.id).where(StatisticsRow.active.is_(True))
    )
    return id


async def newest(
    connection: AsyncConnection, below: int | None, limit: int
) -> list[StatisticsVersion]:
    """Versions, newest first, below an id if one is given."""
    query = select(*_COLUMNS).order_by(StatisticsRow.id.desc()).limit(limit)
    if below is not None:
        query = query.where(StatisticsRow.id < below)
    return [StatisticsVersion(*row) for row in await connection.execute(query)]


async def document(connection: AsyncConnection, id: int) -> str | None:
    """The canonical document of a version."""
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
    """Insert a version and its sample; the database assigns its id."""
    added = await connection.execute(insert(StatisticsRow).values(values).returning(*_COLUMNS))
    version = StatisticsVersion(*added.one())
    await add_sample(connection, version.id, sample)
    return version


async def add_sample(connection: AsyncConnection, id: int, content: bytes) -> None:
    """Insert the sample of a version."""
    row = insert(StatisticsSampleRow).values(statistics_id=id, content=content)
    await connection.execute(row)


async def has_sample(connection: AsyncConnection, id: int) -> bool:
    """Whether the sample of a version is still kept."""
    of = StatisticsSampleRow.statistics_id
    return await connection.scalar(select(of).where(of == id)) is not None


async def prune_samples(connection: AsyncConnection, newest: int, at_most: int) -> int:
    """Remove the oldest samples, at most `at_most`; returns how many. The samples of the `newest`
    versions, of the active one and of the one before it stay."""
    of = StatisticsSampleRow.statistics_id
    last = select(StatisticsRow.id).order_by(StatisticsRow.id.desc()).limit(newest)
    active_id = select(StatisticsRow.id).where(StatisticsRow.active.is_(True))
    before = select(StatisticsRow.previous_id).where(
        StatisticsRow.active.is_(True), StatisticsRow.previous_id.is_not(None)
    )
    old = select(of).where(of.not_in(last), of.not_in(active_id), of.not_in(before))
    ids = list(await connection.scalars(old.order_by(of).limit(at_most)))
    if ids:
        await connection.execute(delete(StatisticsSampleRow).where(of.in_(ids)))
    return len(ids)


async def change(connection: AsyncConnection, version: StatisticsVersion) -> None:
    """Write the columns of a version that can change."""
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
    """Make no version active."""
    await connection.execute(
        update(StatisticsRow).where(StatisticsRow.active.is_(True)).values(active=False)
    )


async def _one(
    connection: AsyncConnection, condition: ColumnElement[bool]
) -> StatisticsVersion | None:
    row = (await connection.execute(select(*_COLUMNS).where(condition))).first()
    return None if row is None else StatisticsVersion(*row)
