"""What can go wrong in the database, on a real Postgres; each story ends in step."""

import asyncio

import pytest

from campaigns.feed.service import WorkerFeed
from testkit.servers import PostgresServer, RedisServer
from tests.campaigns.feed.conftest import Databases, in_step
from tests.campaigns.feed.writing import Writer, active


async def test_a_transaction_that_commits_late_is_not_lost(
    database: str, redis: RedisServer
) -> None:
    async with (
        Writer.open(database) as early,
        Writer.open(database) as late,
        WorkerFeed(database, redis.url) as feed,
    ):
        await early.prepare()
        transaction = late.connection.transaction()
        await transaction.start()
        version = await late.put_row(1)  # it began first, and has no rev yet
        rev = await early.put(2)
        assert (await feed.follower.reached(rev)).index.match({"age": 0}) == [2]
        taken = await late.log("campaign", "1", active(1, version))
        waiting = asyncio.create_task(early.put(3))  # it waits for the rev that is taken
        await asyncio.sleep(0.3)
        assert not waiting.done()
        assert taken == rev + 1
        assert feed.current is not None
        assert feed.current.place.rev == rev
        await transaction.commit()
        assert await waiting == rev + 2
        await in_step(feed.follower, early)
        assert feed.current.index.match({"age": 0}) == [1, 2, 3]


async def test_a_rev_that_is_rolled_back_is_used_again(feed: WorkerFeed, writer: Writer) -> None:
    for id in range(1, 6):
        transaction = writer.connection.transaction()
        await transaction.start()
        lost = await writer.log("campaign", "99", active(99, id))
        await transaction.rollback()
        assert await writer.put(id) == lost
    await in_step(feed.follower, writer)
    assert feed.current is not None
    assert feed.current.index.match({"age": 0}) == [1, 2, 3, 4, 5]


@pytest.fixture(scope="module")
def own_databases(own_postgres: PostgresServer) -> Databases:
    return Databases(own_postgres)


async def test_postgres_restarts(own_databases: Databases, redis: RedisServer) -> None:
    database, own_postgres = own_databases.create(), own_databases.server

    async with WorkerFeed(database, redis.url) as feed:
        async with Writer.open(database) as writer:
            await writer.prepare()
            await writer.puts(range(10))
            await in_step(feed.follower, writer)
        await asyncio.to_thread(own_postgres.stop)
        await asyncio.sleep(0.5)
        assert feed.current is not None
        assert feed.current.index.match({"age": 0}) == list(range(10)), "it answers from memory"
        await asyncio.to_thread(own_postgres.start)
        async with Writer.open(database) as writer:
            await writer.puts(range(5), age=1)
            assert await in_step(feed.follower, writer) < 8
            view = feed.current
            await writer.puts(range(5), age=2)
            await in_step(feed.follower, writer)
        assert feed.current is view, "an outage is no reason to load again"


async def test_a_start_without_a_database_waits_for_it(own_databases: Databases) -> None:
    database, own_postgres = own_databases.create(), own_databases.server

    await asyncio.to_thread(own_postgres.stop)
    async with WorkerFeed(database) as feed:
        await asyncio.sleep(0.3)
        assert feed.current is None
        await asyncio.to_thread(own_postgres.start)
        async with Writer.open(database) as writer:
            await writer.prepare()
            await in_step(feed.follower, writer)


@pytest.mark.parametrize("declared", [True, False], ids=["with new-epoch", "without new-epoch"])
@pytest.mark.parametrize("more", [0, 2, 9], ids=["behind", "level", "beyond"])
async def test_a_database_is_restored(
    databases: Databases, redis: RedisServer, declared: bool, more: int
) -> None:
    """The replica had 2 changes more than the backup; then the database gets `more` others."""
    database = databases.create()

    async with WorkerFeed(database, redis.url) as feed:
        async with Writer.open(database) as writer:
            await writer.prepare()
            await writer.puts(range(1, 6))
            await in_step(feed.follower, writer)
        backup = await asyncio.to_thread(databases.backup, database)
        async with Writer.open(database) as writer:
            await writer.puts([2, 99], age=77)
            await in_step(feed.follower, writer)
        await asyncio.to_thread(databases.restore, database, backup)
        async with Writer.open(database) as writer:
            if declared:
                await writer.new_epoch()
            await writer.puts(range(20, 20 + more))
            await in_step(feed.follower, writer)
            await writer.put(3, age=4)
            await in_step(feed.follower, writer)
        assert feed.current is not None
        assert feed.current.index.match({"age": 77}) == []
        assert feed.current.index.match({"age": 4}) == [3]


async def test_the_log_is_pruned_under_a_replica(database: str, redis: RedisServer) -> None:
    async with Writer.open(database) as writer, WorkerFeed(database, relay=False) as feed:
        await writer.prepare()
        await in_step(feed.follower, writer)
        async with feed.follower._applying:
            rev = await writer.puts(range(50))
            await writer.prune(rev - 10)
        await in_step(feed.follower, writer)
        await writer.prune(await writer.put(7, age=7))
        await in_step(feed.follower, writer)
        await writer.put(8, age=7)
        await in_step(feed.follower, writer)


async def test_a_poisoned_change_blocks_nothing(
    feed: WorkerFeed, writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    await writer.puts([1, 2])
    await in_step(feed.follower, writer)
    view = await feed.follower.reached(0)
    bad = active(2, 9) | {"tree": [1, ["=", "nobody.knows", 1]]}
    async with writer.transaction():
        rev = await writer.log("campaign", "2", bad)
    async with writer.transaction():
        await writer.log("campaign", "1", "{broken")
    async with writer.transaction():
        await writer.log("weather", "x", {})
    last = await writer.put(3)
    await feed.follower.reached(last)
    assert view.index.match({"age": 0}) == [3], "old versions must not go on matching"
    assert view.poisoned["campaign", "2"].rev == rev
    assert "nobody.knows" in view.poisoned["campaign", "2"].reason
    assert set(view.poisoned) == {("campaign", "2"), ("campaign", "1"), ("weather", "x")}
    await feed.follower.reached(await writer.put(2))
    await feed.follower.reached(await writer.put(1))
    assert set(view.poisoned) == {("weather", "x")}, "a good change heals"
    assert view.index.match({"age": 0}) == [1, 2, 3]
    assert "change 5 cannot be applied: campaign 2" in caplog.text


async def test_another_type_of_an_attribute_takes_a_fresh_index(database: str) -> None:
    async with Writer.open(database) as writer, WorkerFeed(database, poll=0.1) as feed:
        await writer.prepare()
        await writer.attribute("vip", "bool")
        await writer.put(1)
        await in_step(feed.follower, writer)
        await writer.attribute("vip", "int")
        vip = [1, ["=", "vip", 3]]
        await writer.put(2, tree=vip)
        await in_step(feed.follower, writer)
        assert feed.current is not None
        assert feed.current.index.match({"vip": 3, "age": 0}) == [1, 2]
        assert feed.follower.counts["load", "catalogue"] == 1
        assert feed.current.poisoned == {}
