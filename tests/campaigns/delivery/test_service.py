"""Delivery in the database: counts of several workers, states, and what is forgotten."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import event

from campaigns.advertiser import service as advertiser
from campaigns.campaign import service as campaign
from campaigns.delivery import service
from campaigns.delivery.model import HOUR, MOST_PREDICATES, NEVER, OTHER, Counts, totals
from campaigns.delivery.repository import PAUSE, PORTION, hours_of
from campaigns.errors import NotFound
from campaigns.store import Store
from tests.campaigns.conftest import Fields


def counted(id: int, considered: int, matched: int, answered: int) -> Counts:
    return Counts(Counter({id: considered}), Counter({id: matched}), Counter({id: answered}))


def this_hour(store: Store) -> int:
    return int(store.now().timestamp()) // HOUR


async def test_the_counts_of_workers_are_added_up_whoever_writes_first(
    store: Store, fields: Fields
) -> None:
    id = (await campaign.create(store, "test", fields())).id
    hour = this_hour(store)

    async def worker(n: int) -> None:
        for _ in range(5):
            counts = counted(id, 10, 3, 2)
            counts.considered[id + 1] = 1  # a campaign that is gone
            counts.explain(id, "targeting", "age < 30")
            counts.explain(id, "flight")
            await service.add(store, hour, counts)

    await asyncio.gather(*(worker(n) for n in range(4)))
    await service.add(store, hour - 1, counted(id, 7, 0, 0))
    await service.add(store, hour - 30, counted(id, 1000, 1000, 1000))
    found = await service.read(store, id, 24)
    assert [each.hour for each in found.hours] == [hour - 1, hour]
    assert totals(found.hours) == {
        "considered": 207,
        "matched": 60,
        "answered": 40,
        "outranked": 0,
        "explained": 40,
        "reasons": [
            {"code": "flight", "predicate": None, "count": 20},
            {"code": "targeting", "predicate": "age < 30", "count": 20},
        ],
    }
    assert (await service.read(store, id, 48)).hours[0].hour == hour - 30
    (summary,) = await service.summaries(store, [id, id + 1])
    assert (summary.hour["considered"], summary.day["answered"]) == (207, 40)
    assert await service.forget(store, timedelta(hours=24)) == 1
    assert [each.hour for each in (await service.read(store, id, 48)).hours] == [hour - 1, hour]


async def test_a_campaign_that_is_not_there_has_no_delivery(store: Store) -> None:
    with pytest.raises(NotFound):
        await service.read(store, 99, 24)


async def test_the_state_says_the_truth(store: Store, fields: Fields) -> None:
    now = store.now()
    id = (await campaign.create(store, "test", fields(targeting="age > 3"))).id
    hour = this_hour(store)

    async def state() -> str:
        (summary,) = await service.summaries(store, [id])
        assert (await service.read(store, id, 1)).state == summary.state
        return summary.state.code

    async def patch(**changed: object) -> None:
        await campaign.patch(store, "test", id, changed, None)

    assert await state() == "draft"
    await campaign.activate(store, "test", id)
    assert await state() == "no_traffic"
    await service.add(store, hour, counted(id, 100, 0, 0))
    assert await state() == "unmatched"
    await service.add(store, hour, counted(id, 0, 5, 0))
    assert await state() == "outranked"
    await service.add(store, hour, counted(id, 0, 0, 1))
    assert await state() == "live"
    await patch(starts_at=(now + timedelta(days=1)).isoformat())
    assert await state() == "scheduled"
    await patch(starts_at=None, ends_at=(now - timedelta(hours=1)).isoformat())
    assert await state() == "ended"
    await patch(ends_at=None, targeting="age > 3 and age < 2")
    assert (await campaign.get(store, id)).fingerprint == NEVER
    assert await state() == "never_matches"
    owner = (await campaign.get(store, id)).advertiser_id
    await advertiser.pause(store, "test", owner)
    assert await state() == "advertiser_paused"
    await campaign.pause(store, "test", id)
    assert await state() == "paused"


def test_the_reasons_of_a_campaign_are_bounded() -> None:
    counts = Counts()
    for n in range(100):
        counts.explain(1, "targeting", f"{n} " + "x" * 1000)
        counts.explain(1, "flight")
    reasons = counts.reasons[1]
    assert len(reasons) <= MOST_PREDICATES + 2
    assert max(len(predicate) for _, predicate in reasons) == 200
    assert reasons["targeting", OTHER] == 100 - (MOST_PREDICATES - 1)
    assert reasons["flight", ""] == 100
    twice = replace(Counts())
    twice.add(counts)
    twice.add(counts)
    assert twice.reasons[1]["flight", ""] == 200


def test_requests_that_consider_the_same_campaigns_count_for_each_of_them() -> None:
    counts, other = Counts(), Counts()
    some, more = frozenset({1, 2}), frozenset({2, 3})
    for ids in (some, some, more, some):
        counts.consider(ids)
    other.consider(more)
    counts.add(other)
    counts.settle()
    counts.settle()
    assert counts.considered == {1: 3, 2: 5, 3: 2}
    assert counts.rows == 3


async def test_more_rows_than_a_statement_has_are_all_added(store: Store) -> None:
    counts = Counts()
    ids = range(1, 3 * PORTION + 2)
    counts.consider(frozenset(ids))
    for id in ids:
        counts.explain(id, "flight")
    counts.settle()
    for _ in range(2):
        await service.add(store, 7, counts)
    async with store.database.read() as connection:
        hours = await hours_of(connection, ids, 0, reasons=True)
    assert {id: (each.considered, each.reasons) for id, (each,) in hours.items()} == {
        id: (2, {("flight", ""): 2}) for id in ids
    }


async def test_the_event_loop_has_time_between_two_statements(store: Store) -> None:
    counts = Counts()
    counts.consider(frozenset(range(1, 3 * PORTION + 2)))
    counts.settle()
    events: list[tuple[str, float]] = []

    def note(name: str) -> None:
        def now(*_: object) -> None:
            events.append((name, time.monotonic()))

        event.listen(store.database.engine.sync_engine, name, now)

    note("before_cursor_execute")
    note("after_cursor_execute")
    await service.add(store, 7, counts)
    pauses = [
        begun - ended
        for (before, ended), (after, begun) in pairwise(events)
        if (before, after) == ("after_cursor_execute", "before_cursor_execute")
    ]
    assert len(pauses) >= 3
    assert min(pauses[-3:]) > 0.8 * PAUSE  # clocks are coarse
