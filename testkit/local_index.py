"""An index in this process with the campaigns of a database: it provides the expected answers and
the cost of a match alone."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from app.match.single import reserved
from campaigns.campaign.categories import labels_of
from campaigns.catalogue.model import schema_of
from campaigns.feed.postgres import connect
from campaigns.statistics.replan import ENOUGH
from index import Index, Limits, Query
from index.score import score_of
from testkit.workloads.workload import Event, Workload

_BATCH = 20_000
_ROWS = """SELECT id, tree, categories, priority, bid_micros, starts_at, ends_at, advertiser_id,
version FROM campaigns WHERE status = 'active'"""
LIMIT = 10
_ENOUGH = 64 * ENOUGH
"""Events of which the index samples enough to plan by them."""


async def build(url: str, workload: Workload) -> Index:
    """An index with the active campaigns of the database."""
    types = [(attribute.name, attribute.type.value) for attribute in workload.schema]
    index = Index(schema_of(types), limits=Limits())
    index.insert_json(await rows_of(url))
    return index


async def rows_of(url: str) -> list[tuple[Any, ...]]:
    """The active campaigns of the database, as `Index.insert_json` takes them."""
    found: list[tuple[Any, ...]] = []
    connection = await connect(url, 600.0)
    try:
        async with connection.transaction():
            cursor = await connection.cursor(_ROWS)
            while batch := await cursor.fetch(_BATCH):
                found += [_item(*row) for row in batch]
    finally:
        await connection.close()
    return found


def _item(
    id: int,
    tree: str,
    categories: Any,
    priority: int,
    bid: int,
    starts: datetime | None,
    ends: datetime | None,
    advertiser: int,
    version: int,
) -> tuple[Any, ...]:
    some = orjson.loads(categories) if isinstance(categories, str) else categories
    score = score_of(priority, bid)
    start, end = starts and starts.timestamp(), ends and ends.timestamp()
    return id, tree, score, start, end, advertiser, version, labels_of(some)


def plan(index: Index, events: Sequence[Event]) -> None:
    """Plan by a sample of events, as a service does soon after its start."""
    for _ in range(-(-_ENOUGH // len(events))):
        for event in events:
            index.top(event)
    index.replan()


def match_cpu_us(index: Index, events: Sequence[Event]) -> float:
    """CPU of a match in a tight loop, called as the service calls it."""
    now = time.time()
    query = Query(now, LIMIT, builtins=reserved(int(now // 3600)))
    for _ in range(2):  # the first time is a warm-up
        started = time.process_time()
        for event in events:
            index.ask(event, query).to_json(b"}")
        took = time.process_time() - started
    return 1e6 * took / len(events)
