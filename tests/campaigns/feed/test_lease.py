"""One worker holds the lease; a worker that loses it stops at once."""

import asyncio
import time

import pytest

from campaigns.database.locks import AdvisoryLock
from campaigns.feed.lease import LEASE_SECONDS, Lease
from tests.campaigns.feed.writing import Writer

OBJECT = AdvisoryLock.RELAY & 0xFFFFFFFF
HOLDER = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = {OBJECT}"


async def for_ever(ended: list[float]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append(time.monotonic())


async def test_a_second_worker_waits_for_the_first(database: str) -> None:
    first = await Lease.acquire(database)
    second = asyncio.create_task(Lease.acquire(database))
    await asyncio.sleep(0.3)
    assert not second.done()
    first.release()
    async with asyncio.timeout(5):
        (await second).release()


async def test_the_work_ends_with_the_connection(database: str) -> None:
    lease = await Lease.acquire(database)
    ended: list[float] = []
    work = asyncio.create_task(lease.hold_while(for_ever(ended)))
    async with Writer.open(database) as writer:
        await asyncio.sleep(0.05)
        assert not ended
        begin = time.monotonic()
        await writer.connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({HOLDER}) h")
        async with asyncio.timeout(5):
            await asyncio.wait([work])
        assert ended[0] - begin < 0.5
        assert await writer.connection.fetch(HOLDER) == []
    lease.release()


async def test_a_commit_wakes_the_holder(database: str) -> None:
    lease = await Lease.acquire(database)
    async with Writer.open(database) as writer:
        await writer.advertiser(1)
    async with asyncio.timeout(5):
        await lease.woken.wait()
    lease.release()


async def test_an_error_in_the_work_is_logged(database: str) -> None:
    async def fails() -> None:
        raise ValueError("as it must")

    lease = await Lease.acquire(database)
    with pytest.raises(ValueError, match="as it must"):
        await lease.hold_while(fails())
    lease.release()


async def test_a_holder_that_does_not_renew_it_loses_it(database: str) -> None:
    silent = await Lease.acquire(
        database
    )  # its connection stays open, as that of a stopped process
    async with asyncio.timeout(LEASE_SECONDS + 2.5):
        other = await Lease.acquire(database)
        await silent.lost.wait()
    other.release()


async def test_a_holder_that_renews_it_keeps_it(database: str) -> None:
    lease = await Lease.acquire(database)
    work = asyncio.create_task(lease.hold_while(for_ever([])))
    await asyncio.sleep(LEASE_SECONDS + 0.5)
    assert not work.done()
    work.cancel()
    lease.release()
