"""Workers that are killed with -9, at any moment; what they leave behind never misleads another."""

import asyncio
import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from campaigns.feed import stream
from campaigns.feed.index_file import IndexFile
from campaigns.feed.worker import WorkerFeed
from index import Limits
from tests.campaigns.feed.conftest import eventually, in_step
from tests.campaigns.feed.writing import Writer
from tests.servers import RedisServer

ROOT = Path(__file__).parents[3]


@contextmanager
def worker(*arguments: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process of its own; it does not end by itself."""
    command = [sys.executable, "-m", "tests.campaigns.feed.process", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


async def until_at(process: subprocess.Popen[bytes], writer: Writer, seconds: float = 20) -> None:
    """Wait until the process says that it holds what the database holds."""
    truth = list(await writer.truth())
    assert process.stdout is not None
    async with asyncio.timeout(seconds):
        while json.loads(await asyncio.to_thread(process.stdout.readline)) != truth:
            pass


def test_a_replica_is_killed_at_random_and_starts_again(
    database: str, redis: RedisServer, tmp_path: Path
) -> None:
    async def story() -> None:
        chance = random.Random(5)
        async with Writer.open(database) as writer:
            await writer.prepare()
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

    asyncio.run(story())


def test_the_holder_of_the_lease_is_killed(database: str, redis: RedisServer) -> None:
    async def story() -> None:
        client = stream.client(redis.url)
        async with (
            Writer.open(database) as writer,
            WorkerFeed(database, redis.url, relay=False) as feed,
        ):
            await writer.prepare()
            epoch = (await writer.truth())[0]

            async def published() -> bool:
                last = await client.xrevrange(stream.key(epoch), count=1)
                rev = (await writer.truth())[1]
                return bool(last) and last[0][0] == b"%d-0" % rev

            with worker(database, redis.url) as holder, worker(database, redis.url) as heir:
                for process in (holder, heir):
                    await until_at(process, writer)
                await eventually(published, 5, "one of them relays")
                pids = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
                # Which of the two holds it shows when it is dead.
                before = await writer.connection.fetch(pids)
                holder.send_signal(signal.SIGKILL)
                await writer.puts(range(10))
                await eventually(published, 8, "the other one relays")
                assert len(await writer.connection.fetch(pids)) == len(before) == 1
                assert await in_step(feed.follower, writer) < 3
                entries = await client.xrange(stream.key(epoch))
                revs = [int(id.partition(b"-")[0]) for id, _ in entries]
                assert revs == list(range(revs[0], revs[0] + len(revs))), "dense, with no repeats"
            with worker(database, redis.url):
                await writer.puts(range(10))
                await eventually(published, 10, "a third one takes over")
            assert await in_step(feed.follower, writer) < 3
        await client.aclose()

    asyncio.run(story())
