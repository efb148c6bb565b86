"""Workers that are killed with -9, at any moment; what they leave behind never misleads another."""

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

from campaigns.feed import stream
from campaigns.feed.index_file import IndexFile
from campaigns.feed.service import WorkerFeed
from index import Limits
from testkit.servers import RedisServer
from tests.campaigns.feed.conftest import eventually, in_step
from tests.campaigns.feed.workers import until_at, worker
from tests.campaigns.feed.writing import Writer


async def test_a_replica_is_killed_at_random_and_starts_again(
    writer: Writer, database: str, redis: RedisServer, tmp_path: Path
) -> None:
    chance = random.Random(5)
    await writer.puts(range(200))
    for life in range(5):
        with worker(database, redis.url, "--keep", tmp_path) as process:
            assert process.stdout is not None
            await asyncio.to_thread(process.stdout.readline)  # it follows
            for _ in range(chance.randrange(60)):
                await writer.put(chance.randrange(200), age=life)
            await asyncio.sleep(chance.random() * 0.1)
        # Whatever it was doing: the file is whole, or there is none.
        view = IndexFile(tmp_path).load(Limits())
        assert view.place.rev >= 1
    with worker(database, redis.url, "--keep", tmp_path) as process:
        await until_at(process, writer)


async def test_a_reader_stands_still_while_the_stream_goes_on_without_it(
    feed: WorkerFeed, writer: Writer, database: str, redis: RedisServer, client: Any
) -> None:
    """A reader that does not read holds nobody up; what it missed it gets from the log."""

    epoch = (await writer.truth())[0]
    with worker(database, redis.url, "--no-relay") as slow:
        await until_at(slow, writer)
        slow.send_signal(signal.SIGSTOP)
        for age in range(3):
            rev = await writer.puts(range(200), age=age)
            await feed.follower.reached(rev)

        async def published() -> bool:
            last = await client.xrevrange(stream.key(epoch), count=1)
            return bool(last) and last[0][0] == b"%d-0" % rev

        await eventually(published, 10, "the relay is not held up")
        await client.xtrim(stream.key(epoch), maxlen=3, approximate=False)
        slow.send_signal(signal.SIGCONT)
        await until_at(slow, writer)
        await writer.puts(range(5))
        await until_at(slow, writer)


async def test_the_holder_of_the_lease_is_killed(
    reader: WorkerFeed, writer: Writer, database: str, redis: RedisServer, client: Any
) -> None:
    epoch = (await writer.truth())[0]

    async def published() -> bool:
        last = await client.xrevrange(stream.key(epoch), count=1)
        rev = (await writer.truth())[1]
        return bool(last) and last[0][0] == b"%d-0" % rev

    pids = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
    with worker(database, redis.url) as holder:
        await eventually(published, 20, "it is alone, so it has the lease and relays")
        ((held_by,),) = await writer.connection.fetch(pids)
        with worker(database, redis.url) as heir:
            await until_at(heir, writer)
            assert await writer.connection.fetch(pids) == [(held_by,)], "still the first"
            holder.send_signal(signal.SIGKILL)
            await writer.puts(range(10))
            await eventually(published, 8, "the other one relays")
            ((now_held_by,),) = await writer.connection.fetch(pids)
            assert now_held_by != held_by
        assert await in_step(reader.follower, writer) < 3
        entries = await client.xrange(stream.key(epoch))
        revs = [int(id.partition(b"-")[0]) for id, _ in entries]
        assert revs == list(range(revs[0], revs[0] + len(revs))), "dense, with no repeats"
    with worker(database, redis.url):
        await writer.puts(range(10))
        await eventually(published, 10, "a third one takes over")
    assert await in_step(reader.follower, writer) < 3
