"""A request with a key is done once, whatever happens to the first attempt."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.campaign import service as campaign
from campaigns.campaign.model import Campaign
from campaigns.database.engine import Database
from campaigns.errors import InFlight, InvalidFields, KeyReused
from campaigns.log import idempotency
from campaigns.log.idempotency import Answering
from campaigns.log.repository import Answer, RequestKey
from campaigns.store import Store
from tests.campaigns.conftest import Fields

NOW = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with Database(database_url) as database:
        yield Store(database, now=lambda: NOW)


def request(key: str = "k", hash: str = "r", key_id: int = 1, at: datetime = NOW) -> RequestKey:
    return RequestKey(key_id, key, hash, at)


def answer(made: Campaign) -> Answer:
    return Answer(201, f'{{"id": {made.id}}}', {"ETag": '"1"'})


async def create(store: Store, fields: Fields, marked: RequestKey) -> Campaign:
    return await campaign.create(store, "ann", fields(), Answering(marked, answer))


async def test_a_repeat_is_given_the_first_answer(store: Store, fields: Fields) -> None:
    assert await idempotency.find(store, request()) is None
    made = await create(store, fields, request())
    assert await idempotency.find(store, request()) == answer(made)


async def test_the_same_key_with_another_request_is_refused(store: Store, fields: Fields) -> None:
    await create(store, fields, request())
    with pytest.raises(KeyReused):
        await idempotency.find(store, request(hash="another"))


async def test_keys_of_two_api_keys_are_two(store: Store, fields: Fields) -> None:
    await create(store, fields, request())
    assert await idempotency.find(store, request(key_id=2, hash="another")) is None


async def test_of_requests_at_the_same_time_one_is_done(store: Store, fields: Fields) -> None:
    done = await asyncio.gather(
        *(create(store, fields, request()) for _ in range(4)), return_exceptions=True
    )
    (made,) = (each for each in done if isinstance(each, Campaign))
    assert sum(isinstance(each, InFlight) for each in done) == 3
    assert (await campaign.page(store)).items == (made,)
    assert await idempotency.find(store, request()) == answer(made)


async def test_a_refused_request_leaves_the_key_free(store: Store, fields: Fields) -> None:
    with pytest.raises(InvalidFields):
        await campaign.create(store, "ann", {}, Answering(request(), answer))
    await create(store, fields, request(hash="another"))


async def test_a_row_without_an_answer_of_an_earlier_version_is_taken_over(
    store: Store, fields: Fields
) -> None:
    async with store.database.write() as connection:
        await connection.exec_driver_sql(
            "INSERT INTO idempotency (key_id, key, request_hash, token, locked_until, created_at) "
            "VALUES (1, 'k', 'r', 'theirs', '2026-11-16 01:00:00Z', '2026-11-16 00:00:00Z')"
        )
    assert await idempotency.find(store, request()) is None
    made = await create(store, fields, request())
    assert await idempotency.find(store, request()) == answer(made)


async def test_old_records_are_forgotten(store: Store, fields: Fields) -> None:
    await create(store, fields, request(at=NOW - timedelta(days=2)))
    await create(store, fields, request(key="new"))
    assert await idempotency.forget(store, timedelta(days=1)) == 1
    assert await idempotency.find(store, request(hash="another")) is None


@pytest.mark.parametrize("key", ["", "k" * 256, "ä", "a\nb"])
async def test_a_key_that_no_header_can_hold_is_refused(store: Store, key: str) -> None:
    with pytest.raises(InvalidFields):
        await idempotency.find(store, request(key=key))
