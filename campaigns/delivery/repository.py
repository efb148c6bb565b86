"""The SQL of `delivery` and `delivery_reasons`."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ARRAY, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from campaigns.database.tables import Base, DeliveryReasonRow, DeliveryRow
from campaigns.delivery.model import Counts, HourOfDelivery, Reason

PORTION = 250
"""Rows of one statement. The event loop prepares them in one step, in which no match is answered:
1 to 2 ms of CPU."""

PAUSE = 0.005
"""Seconds between two statements, in which a busy event loop catches up with its matches."""


async def add(connection: AsyncConnection, hour: int, counts: Counts) -> None:
    """Add to the counts of an hour. All writers lock the rows in the same order."""
    seen = sorted(counts.considered)
    rows: Iterator[tuple[Any, ...]] = (
        (id, hour, counts.considered[id], counts.matched[id], counts.answered[id]) for id in seen
    )
    reasons: Iterator[tuple[Any, ...]] = (
        (id, hour, code, predicate, count)
        for id in seen
        for (code, predicate), count in sorted(counts.reasons.get(id, {}).items())
    )
    for row, values in (DeliveryRow, rows), (DeliveryReasonRow, reasons):
        while portion := list(islice(values, PORTION)):
            await _add(connection, row, portion)
            await asyncio.sleep(PAUSE)


async def _add(
    connection: AsyncConnection, row: type[Base], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows, or add their counts to the rows that are there."""
    table = row.__table__
    names = table.columns.keys()
    if connection.dialect.name == "postgresql":
        # One array for each column: an execution for each row takes twice the CPU, here and there.
        arrays = [bindparam(each.name, type_=ARRAY(each.type)) for each in table.columns]
        source = func.unnest(*arrays).table_valued(*names).render_derived()
        insert: Any = postgresql.insert(row).from_select(names, select(source))
        values: Any = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    else:
        insert = sqlite.insert(row)
        values = [dict(zip(names, each, strict=True)) for each in rows]
    counts = [each for each in table.columns if not each.primary_key]
    adding = insert.on_conflict_do_update(
        index_elements=[each.name for each in table.primary_key],
        set_={each.name: each + insert.excluded[each.name] for each in counts},
    )
    await connection.execute(adding, values)


async def hours_of(
    connection: AsyncConnection, campaign_ids: Collection[int], since: int, reasons: bool
) -> dict[int, list[HourOfDelivery]]:
    """The hours of campaigns from `since` on, the oldest first; with their `reasons`."""
    explained: dict[tuple[int, int], Counter[Reason]] = defaultdict(Counter)
    if reasons:
        asked = select(DeliveryReasonRow).where(
            DeliveryReasonRow.campaign_id.in_(campaign_ids), DeliveryReasonRow.hour >= since
        )
        for why in await connection.execute(asked):
            explained[why.campaign_id, why.hour][why.code, why.predicate] = why.misses
    query = (
        select(DeliveryRow)
        .where(DeliveryRow.campaign_id.in_(campaign_ids), DeliveryRow.hour >= since)
        .order_by(DeliveryRow.hour)
    )
    found: dict[int, list[HourOfDelivery]] = defaultdict(list)
    for row in await connection.execute(query):
        counts = (row.considered, row.matched, row.answered)
        counted = HourOfDelivery(row.hour, *counts, explained[row.campaign_id, row.hour])
        found[row.campaign_id].append(counted)
    return found


async def forget(connection: AsyncConnection, before: int) -> int:
    """Remove hours before this one; returns the number of rows."""
    removed = 0
    for row in (DeliveryRow, DeliveryReasonRow):
        done = await connection.execute(delete(row).where(row.hour < before))
        removed += int(done.rowcount)
    return removed
