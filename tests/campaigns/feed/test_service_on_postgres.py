"""A worker's feed on a real Postgres and a real Redis, while nothing is wrong."""

import asyncio
import time
from statistics import median
from typing import Any

from campaigns.feed import stream
from campaigns.feed.service import WorkerFeed
from tests.campaigns.feed.conftest import in_step
from tests.campaigns.feed.writing import Writer


async def test_every_kind_of_change_arrives_through_the_stream(
    feed: WorkerFeed, writer: Writer
) -> None:
    view = await feed.follower.reached(2)
    await in_step(feed.follower, writer)
    await writer.puts([7, 8, 9], age=30)
    await writer.put(8, "paused")
    await writer.put(9, age=30, categories=["IAB1", "IAB2"])
    await writer.key(1)
    await writer.key(2)
    await writer.key(2, revoked=True)
    await in_step(feed.follower, writer)
    assert view.index.match({"age": 30}) == [7, 9]
    assert view.index.labels(9) == ["IAB1", "IAB2"]
    assert view.index.labels(7) == []
    assert set(view.keys) == {"prefix1"}
    await feed.follower.reached(await writer.advertiser(1, "paused"))
    assert view.index.match({"age": 30}) == []
    await feed.follower.reached(await writer.advertiser(1, "active"))
    await writer.delete(7)
    await writer.attribute("vip", "bool")
    await in_step(feed.follower, writer)
    assert view.index.match({"age": 30, "vip": True}) == [9]
    assert feed.current is view, "nothing made it load again"


async def test_a_change_is_visible_within_milliseconds(
    feed: WorkerFeed, writer: Writer, client: Any
) -> None:
    await feed.follower.reached(2)
    # The relay holds the lease once the stream has something.
    epoch = (await writer.truth())[0]
    while not await client.xlen(stream.key(epoch)):
        await asyncio.sleep(0.02)
    times = []
    for id in range(1, 101):
        rev = await writer.put(id)
        begin = time.monotonic()
        await feed.follower.reached(rev)
        times.append(time.monotonic() - begin)
    assert median(times) < 0.1, f"{sorted(times)}"
    assert feed.follower.counts["applied", "stream"] >= 50


async def test_without_redis_the_log_is_polled(database: str) -> None:
    async with Writer.open(database) as writer, WorkerFeed(database, poll=0.1) as feed:
        await writer.prepare()
        await writer.puts(range(1, 20))
        assert await in_step(feed.follower, writer) < 5
        rev = await writer.put(5, age=3)
        begin = time.monotonic()
        await feed.follower.reached(rev)
        assert time.monotonic() - begin < 1.5
