"""A request that is marked is done once: the four cases, and the holder that crashed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.campaign import service as campaign
from campaigns.campaign.model import Campaign
from campaigns.database.engine import Database
from campaigns.errors import ClaimLost, InFlight, InvalidFields, KeyReused
from campaigns.log import idempotency
from campaigns.log.idempotency import LOCKED_FOR, Answer, Answering
from campaigns.log.repository import Claim
from campaigns.store import Store
from tests.campaigns.conftest import Fields


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def store(database_url: str, clock: Clock) -> AsyncIterator[Store]:
    async with Database(database_url) as database:
        yield Store(database, now=clock)


def answer(made: Campaign) -> Answer:
    return Answer(201, f'{{"id": {made.id}}}', {"ETag": '"1"'})


async def claimed(store: Store, key: str = "k", request: str = "r") -> Claim:
    claim = await idempotency.claim(store, 1, key, request)
    assert isinstance(claim, Claim)
    return claim


async def test_a_repeat_is_given_the_first_answer(store: Store, fields: Fields) -> None:
    claim = await claimed(store)
    made = await campaign.create(store, "ann", fields(), Answering(claim, answer))
    assert await idempotency.claim(store, 1, "k", "r") == answer(made)
    assert len((await campaign.page(store)).items) == 1


async def test_the_same_key_with_another_request_is_refused(store: Store) -> None:
    await claimed(store)
    with pytest.raises(KeyReused):
        await idempotency.claim(store, 1, "k", "another")


async def test_a_request_in_flight_is_not_done_twice(store: Store) -> None:
    await claimed(store)
    with pytest.raises(InFlight):
        await idempotency.claim(store, 1, "k", "r")


async def test_keys_of_two_api_keys_are_two(store: Store) -> None:
    await claimed(store)
    assert isinstance(await idempotency.claim(store, 2, "k", "another"), Claim)


async def test_a_crashed_holder_is_taken_over(store: Store, fields: Fields, clock: Clock) -> None:
    crashed = await claimed(store)
    clock.now += LOCKED_FOR
    second = await claimed(store)
    assert second.token != crashed.token
    made = await campaign.create(store, "ann", fields(), Answering(second, answer))
    assert await idempotency.claim(store, 1, "k", "r") == answer(made)


async def test_a_holder_that_was_only_slow_writes_nothing(
    store: Store, fields: Fields, clock: Clock
) -> None:
    slow = await claimed(store)
    clock.now += LOCKED_FOR
    second = await claimed(store)
    with pytest.raises(ClaimLost):
        await campaign.create(store, "ann", fields(), Answering(slow, answer))
    assert (await campaign.page(store)).items == ()
    made = await campaign.create(store, "ann", fields(), Answering(second, answer))
    with pytest.raises(ClaimLost):
        await campaign.create(store, "ann", fields(), Answering(slow, answer))
    assert (await campaign.page(store)).items == (made,)


async def test_a_refused_request_gives_its_key_back(store: Store) -> None:
    claim = await claimed(store)
    with pytest.raises(InvalidFields):
        await campaign.create(store, "ann", {}, Answering(claim, answer))
    await idempotency.release(store, claim)
    await claimed(store, request="another")


async def test_an_answer_can_be_stored_by_itself(store: Store) -> None:
    claim, refusal = await claimed(store), Answer(422, "{}", {})
    async with store.database.write() as connection:
        answering: Answering[Answer] = Answering(claim, lambda same: same)
        await answering.store(connection, refusal)
    assert await idempotency.claim(store, 1, "k", "r") == refusal
    await idempotency.release(store, claim)  # too late: it is done
    assert await idempotency.claim(store, 1, "k", "r") == refusal


async def test_old_records_are_forgotten(store: Store, clock: Clock) -> None:
    await claimed(store)
    clock.now += timedelta(days=2)
    await claimed(store, key="new")
    assert await idempotency.forget(store, timedelta(days=1)) == 1
    await claimed(store, request="another")


@pytest.mark.parametrize("key", ["", "k" * 256, "ä", "a\nb"])
async def test_a_key_that_no_header_can_hold_is_refused(store: Store, key: str) -> None:
    with pytest.raises(InvalidFields):
        await idempotency.claim(store, 1, key, "r")
