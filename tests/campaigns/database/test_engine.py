"""Transactions on both databases, and what happens when there is none."""

import asyncio
import threading
from typing import Any

import pytest
import uvloop
from sqlalchemy import event, text

from campaigns.advertiser import service as advertiser
from campaigns.database.engine import Database, driver_url, is_unavailable
from campaigns.errors import BadDatabaseUrl, DatabaseUnavailable
from campaigns.log import service as log
from campaigns.store import Store


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("postgresql://u:p@h:1/d", "postgresql+asyncpg"),
        ("postgres://h/d", "postgresql+asyncpg"),
        ("sqlite:///a.sqlite3", "sqlite+aiosqlite"),
    ],
)
def test_a_url_gets_our_driver(url: str, driver: str) -> None:
    assert driver_url(url).drivername == driver


@pytest.mark.parametrize("url", ["mysql://h/d", "nonsense", ""])
def test_another_database_is_refused(url: str) -> None:
    with pytest.raises(BadDatabaseUrl):
        Database(url)


@pytest.mark.parametrize("url", ["postgresql://127.0.0.1:1/d", "sqlite:////no/such/place/x.db"])
async def test_a_database_that_is_not_there_is_unavailable(url: str) -> None:
    threads = threading.active_count()
    async with Database(url) as database:
        with pytest.raises(DatabaseUnavailable):
            await log.read_head(Store(database))
    async with asyncio.timeout(10):
        while threading.active_count() > threads:  # SQLite's, which needs this loop to end
            await asyncio.sleep(0.01)


def test_a_connection_that_ends_before_its_first_write_means_unavailable() -> None:
    """As when Postgres resets it while the request waits for its next turn; the driver then writes
    to a closed transport."""

    async def write_to_a_closed_transport() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
        transport.abort()
        await asyncio.sleep(0.01)
        server.close()
        transport.write(b"first")

    with pytest.raises(RuntimeError) as closed:
        uvloop.run(write_to_a_closed_transport())
    assert is_unavailable(closed.value)
    assert not is_unavailable(RuntimeError("a mistake of ours"))


async def test_a_snapshot_sees_one_version(store: Store) -> None:
    count = text("SELECT count(*) FROM advertisers")
    async with store.database.repeatable_read() as connection:
        assert (await connection.execute(count)).scalar_one() == 0
        await advertiser.create(store, "ann", {"name": "Shop"})
        assert (await connection.execute(count)).scalar_one() == 0
    assert len((await advertiser.page(store)).items) == 1


async def test_more_writes_than_connections_wait_for_one(postgres_url: str) -> None:
    async with Database(postgres_url, pool_size=2) as database:
        opened: list[object] = []
        event.listen(database.engine.sync_engine, "connect", lambda *made: opened.append(made))
        store = Store(database)
        writes = (advertiser.create(store, "ann", {"name": f"Shop {n}"}) for n in range(20))
        await asyncio.gather(*writes)
        assert len(opened) == 2


async def test_sqlite_is_set_up_for_several_processes(sqlite_url: str) -> None:
    async with Database(sqlite_url) as database, database.read() as connection:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 1), ("foreign_keys", 1)):
            assert (await connection.exec_driver_sql(f"PRAGMA {pragma}")).scalar_one() == value


async def test_connections_that_were_cut_are_replaced(postgres_url: str) -> None:
    async with Database(postgres_url) as database:
        made: list[Any] = []
        engine = database.engine.sync_engine
        event.listen(engine, "connect", lambda _, record: made.append(record.driver_connection))
        store = Store(database)
        await log.read_head(store)
        async with Database(postgres_url) as other, other.read() as connection:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"
            await connection.exec_driver_sql(cut)
        async with asyncio.timeout(30):  # until the driver has heard of it
            while not made[0].is_closed():
                await asyncio.sleep(0.01)
        assert (await log.read_head(store)).rev == 0
