"""Sessions that hold locks give up a peer that is silent, on both ends."""

import asyncio
import socket
from typing import Any

import pytest
from sqlalchemy import text

from campaigns.database import sessions
from campaigns.database.engine import Database, driver_of
from campaigns.errors import DatabaseUnavailable
from campaigns.feed.lease import Lease


def unanswered_for(connection: Any) -> int:
    """How many milliseconds our end of a connection waits for an acknowledgement."""
    ours = connection._transport.get_extra_info("socket")
    milliseconds: int = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
    return milliseconds


async def test_both_ends_give_up_a_silent_peer(postgres_url: str) -> None:
    shown = "SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp%'"
    lease = await Lease.acquire(postgres_url)
    async with Database(postgres_url) as database, database.read() as connection:
        for driver in (lease._connection, driver_of(connection)):
            assert dict(await driver.fetch(shown)) == sessions.SETTINGS
            assert unanswered_for(driver) == sessions.SILENCE_SECONDS * 1000
    lease.release()


async def test_a_transaction_that_hangs_is_ended_and_says_so(postgres_url: str) -> None:
    async def hang(database: Database) -> None:
        async with database.write() as connection:
            await connection.execute(text("SET idle_in_transaction_session_timeout = '0.2s'"))
            await asyncio.sleep(1)
            await connection.execute(text("SELECT 1"))

    async with Database(postgres_url) as database:
        with pytest.raises(DatabaseUnavailable):
            await hang(database)
