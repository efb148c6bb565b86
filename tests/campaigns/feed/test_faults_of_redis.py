"""What can go wrong in Redis and in the relay, on real servers; each story ends in step."""

import asyncio
import signal
import time
from contextlib import suppress
from typing import Any

import pytest
from redis.asyncio.client import Pipeline

from campaigns.feed import stream
from campaigns.feed.messages import Link, ReadLog
from campaigns.feed.postgres import PostgresSource
from campaigns.feed.relay import Relay
from campaigns.feed.service import WorkerFeed
from testkit.servers import RedisServer
from tests.campaigns.feed.conftest import codec, eventually, follows_the_stream, in_step
from tests.campaigns.feed.writing import Writer


async def revs_in(client: Any, epoch: str) -> list[int]:
    entries = await client.xrange(stream.key(epoch))
    return [int(id.partition(b"-")[0]) for id, _ in entries]


async def test_the_relay_is_killed_before_and_after_xadd(
    writer: Writer, database: str, redis: RedisServer, client: Any
) -> None:
    first = Relay(PostgresSource(database), stream.client(redis.url))
    await first.publish()
    await writer.puts(range(5))
    await first.close()  # before: what was committed was not published
    second = Relay(PostgresSource(database), stream.client(redis.url))
    await second.publish()
    await second.close()  # after: nobody remembers that it was
    third = Relay(PostgresSource(database), stream.client(redis.url))
    fourth = Relay(PostgresSource(database), stream.client(redis.url))
    await third.publish()
    await fourth.publish()
    await writer.puts(range(3))
    await asyncio.gather(third.publish(), fourth.publish())  # and even two at once
    await third.close()
    await fourth.close()
    epoch, rev, _ = await writer.truth()
    assert await revs_in(client, epoch) == list(range(1, rev + 1))
    links = [codec(epoch).decode(*entry) for entry in await client.xrange(stream.key(epoch))]
    nonces = ["", *(link.change.nonce for link in links)]
    assert [link.previous for link in links] == nonces[:-1]
    async with WorkerFeed(database, redis.url, relay=False) as feed:
        await in_step(feed.follower, writer)


async def test_a_slow_reader_and_a_stream_that_is_trimmed_under_it(
    feed: WorkerFeed, writer: Writer, client: Any
) -> None:
    await in_step(feed.follower, writer)
    epoch = (await writer.truth())[0]

    async def published() -> bool:
        return await revs_in(client, epoch) != []

    await eventually(published, 5, "the relay began")
    async with feed.follower._applying:  # it cannot apply anything
        rev = await writer.puts(range(300))

        async def all_published() -> bool:
            return (await revs_in(client, epoch))[-1:] == [rev]

        await eventually(all_published, 10, "the relay is not held up")
        await client.xtrim(stream.key(epoch), maxlen=3, approximate=False)
        assert feed.follower.lag >= 0
    assert await in_step(feed.follower, writer) < 5
    await writer.puts(range(5))
    await in_step(feed.follower, writer)


async def test_the_stream_is_trimmed_between_two_reads(
    reader: WorkerFeed, writer: Writer, database: str, client: Any
) -> None:
    """Redis gives the entries that are left as if there had been no others."""

    source = PostgresSource(database)
    await in_step(reader.follower, writer)
    for _ in range(5):
        epoch, rev, _ = await writer.truth()
        await writer.puts(range(4))
        page = await source.read_log(ReadLog(rev, ""))
        pipeline = client.pipeline(transaction=True)
        for change in page.changes:
            id, fields = codec(epoch).encode(Link("", change))
            pipeline.xadd(stream.key(epoch), fields, id)
        pipeline.xtrim(stream.key(epoch), maxlen=1, approximate=False)
        await pipeline.execute()
        await in_step(reader.follower, writer)
    assert reader.follower.counts["resync", "gap"] > 0
    await source.close()


async def test_flushall(own_feed: WorkerFeed, writer: Writer, own_redis: RedisServer) -> None:
    client = stream.client(own_redis.url)
    await in_step(own_feed.follower, writer)
    for _ in range(3):
        await writer.puts(range(10))
        await client.flushall()
        await writer.puts(range(10, 15))
        assert await in_step(own_feed.follower, writer) < 3
    assert not [what for what, _ in own_feed.follower.counts if what == "load"]
    await client.aclose()


async def test_redis_restarts_empty(
    own_feed: WorkerFeed, writer: Writer, own_redis: RedisServer
) -> None:
    await writer.puts(range(10))
    await in_step(own_feed.follower, writer)
    await asyncio.to_thread(own_redis.stop)
    await writer.puts(range(5), age=1)
    await asyncio.to_thread(own_redis.start)
    await writer.puts(range(5), age=2)
    assert await in_step(own_feed.follower, writer) < 5
    await follows_the_stream(own_feed, writer)
    await in_step(own_feed.follower, writer)


@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
async def test_redis_is_gone_and_changes_still_arrive(
    own_feed: WorkerFeed, writer: Writer, own_redis: RedisServer, seconds: float
) -> None:
    await in_step(own_feed.follower, writer)
    await asyncio.to_thread(own_redis.stop)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        await own_feed.follower.reached(await writer.put(1))
        assert time.monotonic() - begin < 1.5
    up_while_gone = own_feed.follower.stream_up
    await asyncio.to_thread(own_redis.start)
    await writer.puts(range(5))
    await in_step(own_feed.follower, writer)
    await follows_the_stream(own_feed, writer)
    assert (up_while_gone, own_feed.follower.stream_up) == (False, True)
    assert own_feed.follower.counts["resync", "unreadable"] == 1
    assert not [what for what, _ in own_feed.follower.counts if what == "load"]


async def test_redis_hangs_and_changes_still_arrive(
    own_feed: WorkerFeed, writer: Writer, own_redis: RedisServer
) -> None:
    assert own_redis.process is not None
    await in_step(own_feed.follower, writer)
    own_redis.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(3):
            begin = time.monotonic()
            await own_feed.follower.reached(await writer.put(1))
            assert time.monotonic() - begin < 1.5
    finally:
        own_redis.process.send_signal(signal.SIGCONT)
    await in_step(own_feed.follower, writer)


async def test_the_relay_ends_though_its_client_swallows_the_cancellation(
    writer: Writer, database: str, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `asyncio.wait_for`, with which the client sends, now and then does in Python 3.11."""
    publishing = asyncio.Event()
    execute = Pipeline.execute

    async def swallow(pipeline: Pipeline, raise_on_error: bool = True) -> list[object]:
        answers = await execute(pipeline, raise_on_error)
        publishing.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return answers

    monkeypatch.setattr(Pipeline, "execute", swallow)
    relay = Relay(PostgresSource(database), stream.client(redis.url))
    running = asyncio.create_task(relay.run(asyncio.Event()))
    await publishing.wait()
    running.cancel()
    await asyncio.wait([running], timeout=5)
    assert running.cancelled()
    await relay.close()
