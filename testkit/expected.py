"""The same campaigns in an index in this process: what the answers must be, and what a match takes
where nothing else does."""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from campaigns.campaign.eligibility import for_index, wrap
from campaigns.catalogue.model import BLOCKED_CATEGORIES, schema_of
from campaigns.feed.postgres import connect
from index import Index, Limits, Query
from index.score import score_of
from testkit.service import NotServing
from testkit.workloads.workload import Event, Workload

_BATCH = 20_000
_ROWS = """SELECT id, tree, categories, priority, bid_micros, starts_at, ends_at, advertiser_id,
version FROM campaigns WHERE status = 'active'"""
LIMIT = 10
RESERVED: dict[str, object] = {BLOCKED_CATEGORIES: None}
"""What the service adds to every event, but for the clock's."""
_ROUNDS = 3


async def build(url: str, workload: Workload) -> Index:
    """From the rows of the database."""
    types = [(attribute.name, attribute.type.value) for attribute in workload.schema]
    index = Index(schema_of(types), limits=for_index(Limits()))
    index.insert_json(await rows_of(url))
    return index


async def rows_of(url: str) -> list[tuple[Any, ...]]:
    """The active campaigns of the database, as an index takes them."""
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
    return id, wrap(tree, some), score, start, end, advertiser, version


def compare(
    index: Index, events: Sequence[Event], answers: Mapping[int, tuple[float, str]], begun: float
) -> int:
    """How many answers (by the place of their event, each with when it came) are what they must be:
    all of them, or `NotServing`. `begun` is when the first was asked for: a flight may begin or
    end in between."""
    for place, (at, answer) in answers.items():
        sent = orjson.loads(answer)
        if not any(_is_answer(index, events[place], moment, sent) for moment in (at, begun)):
            raise NotServing(f"request {place}: a wrong answer: {answer}")
    return len(answers)


def _is_answer(index: Index, event: Event, at: float, sent: dict[str, Any]) -> bool:
    ids, total = index.top(event, LIMIT, at, total=True)
    return [match["campaign_id"] for match in sent["matches"]] == ids and sent["total"] == total


def match_cpu_us(index: Index, events: Sequence[Event]) -> float:
    """The CPU of a match, called as the service does, in a loop of nothing else."""
    query = Query(time.time(), LIMIT, total=True, builtins=RESERVED)
    best = float("inf")
    for _ in range(_ROUNDS):
        started = time.process_time()
        for event in events:
            index.ask(event, query).to_json(b"}")
        best = min(best, time.process_time() - started)
    return 1e6 * best / len(events)
