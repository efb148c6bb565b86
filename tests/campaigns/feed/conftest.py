"""Databases of a test's own, made from one template, and feeds that follow them."""

import asyncio
import itertools
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from campaigns.feed import stream
from campaigns.feed.follower import Follower
from campaigns.feed.service import WorkerFeed
from testkit.servers import PostgresServer, RedisServer, postgres_server, redis_server
from tests.campaigns.feed.writing import SECRET, Writer, ddl

_numbers = itertools.count()


class Databases:
    """Makes, copies and replaces databases of a server."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.psql("postgres", "CREATE DATABASE feed")

    def psql(self, database: str, *statements: str) -> None:
        commands = [part for statement in statements for part in ("-c", statement)]
        psql = [str(self.server.bin / "psql"), "-q", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1"]
        subprocess.run([*psql, *commands, self.server.url_of(database)], check=True)

    def schema(self) -> str:
        """The URL of new tables, in a schema of their own."""
        name = f"feed_{next(_numbers)}"
        self.psql("feed", f"CREATE SCHEMA {name}", f"SET search_path = {name}", *ddl("postgresql"))
        return f"{self.server.url_of('feed')}?search_path={name}"

    def create(self) -> str:
        """The URL of new tables, in a database of their own: it takes longer."""
        name = f"feed_{next(_numbers)}"
        self.psql("postgres", f"CREATE DATABASE {name}")
        self.psql(name, *ddl("postgresql"))
        return self.server.url_of(name)

    def backup(self, url: str) -> str:
        """A copy; connections to the original are cut, as the copy wants nobody there."""
        name = url.rpartition("/")[2]
        self.psql(
            "postgres",
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname='{name}'",
            f"CREATE DATABASE {name}_backup TEMPLATE {name}",
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS true",
        )
        return f"{name}_backup"

    def restore(self, url: str, backup: str) -> None:
        name = url.rpartition("/")[2]
        self.psql(
            "postgres",
            f"DROP DATABASE {name} WITH (FORCE)",
            f"ALTER DATABASE {backup} RENAME TO {name}",
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS true",
        )


@pytest.fixture(scope="session")
def databases(postgres: PostgresServer) -> Databases:
    return Databases(postgres)


@pytest.fixture
def database(databases: Databases) -> str:
    """The URL of a new, empty database with all tables."""
    return databases.schema()


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[PostgresServer]:
    """A Postgres that tests may restart."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """A Redis that a test may restart."""
    with redis_server() as server:
        yield server


@pytest.fixture
async def writer(database: str) -> AsyncIterator[Writer]:
    """A writer, which has made an attribute and an advertiser.

    A test that asks for a feed first sees that one follow from the beginning.
    """
    async with Writer.open(database) as writer:
        await writer.prepare()
        yield writer


@pytest.fixture
async def feed(database: str, redis: RedisServer) -> AsyncIterator[WorkerFeed]:
    """A worker that follows the database, and may be the relay."""
    async with WorkerFeed(database, redis.url) as feed:
        yield feed


@pytest.fixture
async def reader(database: str, redis: RedisServer) -> AsyncIterator[WorkerFeed]:
    """A worker that follows the database, and is not the relay."""
    async with WorkerFeed(database, redis.url, relay=False) as feed:
        yield feed


@pytest.fixture
async def own_feed(database: str, own_redis: RedisServer) -> AsyncIterator[WorkerFeed]:
    """A worker with a Redis that the test may restart."""
    async with WorkerFeed(database, own_redis.url) as feed:
        yield feed


@pytest.fixture
async def client(redis: RedisServer) -> AsyncIterator[Any]:
    """A client of Redis, to look into the streams."""
    client = stream.client(redis.url)
    yield client
    await client.aclose()


def codec(epoch: str) -> stream.Codec:
    """Reads and writes entries as the relay does."""
    return stream.Codec(epoch, SECRET.encode())


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float, what: str) -> float:
    """Wait until something holds; how long that took."""
    begin = time.monotonic()
    while not await condition():
        if time.monotonic() - begin > seconds:
            raise AssertionError(f"not within {seconds} s: {what}")
        await asyncio.sleep(0.01)
    return time.monotonic() - begin


async def in_step(follower: Follower, writer: Writer, seconds: float = 10.0) -> float:
    """Wait until the replica holds what the database holds, at its epoch and rev."""
    return await at(follower, await writer.truth(), seconds)


async def at(follower: Follower, truth: tuple[str, int, int], seconds: float = 10.0) -> float:
    """Wait until the replica has this epoch, rev and digest."""

    async def same() -> bool:
        view = follower.current
        return view is not None and (*view.place[:2], view.digest()) == truth

    try:
        return await eventually(same, seconds, f"{truth}")
    except AssertionError as error:
        raise AssertionError(f"{error}, but {follower.describe()}") from None


async def follows_the_stream(feed: WorkerFeed, writer: Writer, seconds: float = 15) -> float:
    """Wait until changes come from the stream; how long that took."""
    before = feed.follower.counts["applied", "stream"]

    async def streaming() -> bool:
        await writer.put(1)
        return feed.follower.counts["applied", "stream"] > before

    return await eventually(streaming, seconds, "the stream is followed again")
