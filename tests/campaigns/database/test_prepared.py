"""Prepared statements belong to the transaction, run by SQLAlchemy and then by the driver."""

from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import DBAPIError

from campaigns.campaign import repository as rows
from campaigns.campaign import service as campaign
from campaigns.log import head
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.conftest import Fields, on_postgres


class Abandoned(Exception):
    """Raised in the middle of a write."""


@pytest.mark.parametrize("statements", [1, 2])
async def test_what_is_rolled_back_was_never_there(store: Store, statements: int) -> None:
    """The first statement must not run before the transaction begins."""
    before = await log.read_head(store)

    async def abandon() -> None:
        async with store.database.write() as connection:
            for _ in range(statements):
                await head.advance(connection, 1)
            raise Abandoned

    with pytest.raises(Abandoned):
        await abandon()
    assert await log.read_head(store) == before


async def test_both_ways_read_the_same_values(store: Store, fields: Fields) -> None:
    made = await campaign.create(
        store,
        "ann",
        fields(
            starts_at="2026-11-20T01:00:00+01:00",
            categories=["IAB1", "IAB7-39"],
            external_id="ä",
            targeting="age > 1 and country = 'US'",
        ),
    )
    assert made.starts_at == datetime(2026, 11, 20, tzinfo=UTC)
    async with store.database.write() as connection:
        assert await rows.lock(connection, made.id) == made  # begins the transaction
        assert await rows.lock(connection, made.id) == made  # in it
    assert await campaign.get(store, made.id) == made  # outside of any


@on_postgres
async def test_an_error_of_the_driver_has_the_state_of_postgres(
    store: Store, advertiser_id: int
) -> None:
    made = await campaign.create(store, "ann", {"name": "c", "advertiser_id": advertiser_id})
    of_nobody = made.changed({"advertiser_id": advertiser_id + 1}, None)

    async def add() -> None:
        async with store.database.write() as connection:
            await rows.lock(connection, made.id)
            await rows.add(connection, of_nobody)

    with pytest.raises(DBAPIError) as refused:
        await add()
    assert getattr(refused.value.orig, "sqlstate", None) == "23503"
    assert (await campaign.get(store, made.id)) == made  # the connection is as good as new
