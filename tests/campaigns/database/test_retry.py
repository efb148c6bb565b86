"""Operations that another transaction got in the way of."""

import asyncio

import pytest
from sqlalchemy import text

from campaigns.advertiser import service as advertiser
from campaigns.backoff import Backoff
from campaigns.database import retry
from campaigns.database.engine import Database
from campaigns.database.retry import ATTEMPTS, retried
from campaigns.errors import DatabaseUnavailable
from campaigns.store import Store

_LOCK = text("SELECT id FROM advertisers WHERE id = :id FOR UPDATE")


class Conflict(Exception):
    sqlstate = "40001"


async def test_of_two_in_a_deadlock_both_succeed(postgres_url: str) -> None:
    async with Database(postgres_url) as database:
        store = Store(database)
        ids = [(await advertiser.create(store, "test", {"name": name})).id for name in "ab"]
        met = asyncio.Barrier(2)
        attempts = 0

        @retried
        async def both(first: int, second: int) -> None:
            nonlocal attempts
            attempts += 1
            async with database.write() as connection:
                await connection.execute(_LOCK, {"id": first})
                if attempts <= 2:
                    await met.wait()
                await connection.execute(_LOCK, {"id": second})

        async with asyncio.timeout(30):
            await asyncio.gather(both(*ids), both(*reversed(ids)))
        assert attempts == 3


async def test_it_gives_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "BACKOFF", Backoff(0.0, 0.0))
    attempts = 0

    @retried
    async def never() -> None:
        nonlocal attempts
        attempts += 1
        raise Conflict

    with pytest.raises(DatabaseUnavailable, match="5 times"):
        await never()
    assert attempts == ATTEMPTS


async def test_other_errors_are_not_tried_again() -> None:
    attempts = 0

    @retried
    async def wrong() -> None:
        nonlocal attempts
        attempts += 1
        raise KeyError

    with pytest.raises(KeyError):
        await wrong()
    assert attempts == 1
