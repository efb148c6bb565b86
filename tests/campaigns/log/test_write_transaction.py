"""The write protocol under concurrency: the log is dense, in commit order, and loses nothing."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from campaigns.advertiser import service as advertiser
from campaigns.campaign import repository as campaigns
from campaigns.campaign import service as campaign
from campaigns.campaign.model import Campaign, new_campaign
from campaigns.campaign.targeting import check_targeting
from campaigns.catalogue import repository as attributes
from campaigns.catalogue import service as attribute
from campaigns.database.engine import Database
from campaigns.errors import AttributeInUse, CampaignsError, InvalidFields, VersionConflict
from campaigns.log import audit, head
from campaigns.log import service as log
from campaigns.log.changes import NewChange
from campaigns.log.repository import LogEntry
from campaigns.log.write_transaction import writing
from campaigns.record import check_new
from campaigns.store import Store
from tests.campaigns.conftest import Fields, on_postgres
from tests.campaigns.history import all_changes, assert_dense


class Abandoned(Exception):
    """Raised in the middle of a write."""


async def test_revs_are_dense_under_concurrent_writers(store: Store, fields: Fields) -> None:
    chance = random.Random(7)
    made = [(await campaign.create(store, "ann", fields())).id for _ in range(5)]

    async def write(turn: int) -> None:
        kind = chance.randrange(4)
        try:
            if kind == 0:
                await campaign.create(store, "ann", fields(targeting="age > 1"))
            elif kind == 1:
                await campaign.patch(store, "ann", chance.choice(made), {"name": f"n{turn}"}, None)
            elif kind == 2:
                await campaign.activate(store, "ann", chance.choice(made))
            else:
                async with writing(store, "ann") as transaction:
                    await transaction.take(3)
                    raise Abandoned
        except (Abandoned, CampaignsError):
            pass

    await asyncio.gather(*(write(turn) for turn in range(80)))
    await assert_dense(store)
    entries = (await audit.page(store, limit=1000)).items
    assert [entry.rev for entry in entries] == list(range(len(entries), 0, -1))
    for change in await all_changes(store):
        if change.kind == "campaign":
            row = await campaign.get(store, int(change.object_id))
            assert row.rev >= change.rev


async def test_a_reader_never_sees_a_rev_before_the_ones_below_it(
    store: Store, fields: Fields
) -> None:
    """The late commit that a sequence would lose: revs appear one after the other."""
    done = asyncio.Event()
    seen: list[int] = []

    async def follow() -> None:
        while not done.is_set() or (await log.read_head(store)).rev > len(seen):
            async with store.database.read() as connection:
                end = await head.read(connection)
            revs = [change.rev for change in await all_changes(store)]
            assert revs == list(range(1, len(revs) + 1))
            assert len(revs) >= end.rev
            seen[:] = revs

    async def write() -> None:
        for _ in range(10):
            await campaign.create(store, "ann", fields())

    reader = asyncio.create_task(follow())
    await asyncio.gather(*(write() for _ in range(4)))
    done.set()
    await reader
    assert len(seen) == 41


@on_postgres
async def test_a_late_commit_holds_the_next_rev_back(store: Store, advertiser_id: int) -> None:
    """Whoever has taken a rev and not committed: the next writer waits, nobody overtakes."""
    campaign_fields = {"name": "c", "advertiser_id": advertiser_id}
    async with store.database.write() as late:
        taken = (await head.advance(late, 1)).rev
        next_write = asyncio.create_task(campaign.create(store, "bob", campaign_fields))
        await _until_somebody_waits_for_a_lock(store.database)
        assert not next_write.done()
        assert (await log.read_head(store)).rev == taken - 1
        await late.rollback()  # its rev was never taken
    assert (await next_write).rev == taken
    await assert_dense(store)


@on_postgres
async def test_a_campaign_is_checked_again_if_the_catalogue_moved(
    store: Store, advertiser_id: int
) -> None:
    """The attribute goes after the targeting was checked and before the campaign gets its rev."""
    wanted = {"name": "c", "advertiser_id": advertiser_id, "targeting": "age > 3"}
    async with writing(store, "ann") as removal:
        await removal.take(1, changes_catalogue=True)
        await attributes.remove(removal.connection, "age")
        await removal.append([LogEntry(NewChange("attribute", "age"), "delete", None, None)])
        creation = asyncio.create_task(campaign.create(store, "bob", wanted))
        await _until_somebody_waits_for_a_lock(store.database)
    with pytest.raises(InvalidFields, match="age"):
        await creation
    await assert_dense(store)


@on_postgres
async def test_a_campaign_that_slips_in_keeps_its_attribute(
    store: Store, advertiser_id: int
) -> None:
    """It commits after all campaigns were looked at and before the attribute's change."""
    values, _ = check_new(
        Campaign, {"name": "c", "advertiser_id": advertiser_id, "targeting": "age > 3"}
    )
    schema = (await store.catalogue()).schema
    targeting = check_targeting(values["targeting"], schema, store.limits)
    async with writing(store, "ann") as late:
        rev = await late.take(1)
        new = new_campaign(values, "draft", targeting, rev, late.at)
        made = await campaigns.add(late.connection, new)
        await late.append([LogEntry(made.change(), "create", None, made.to_dict())])
        removal = asyncio.create_task(attribute.delete(store, "bob", "age"))
        await _until_somebody_waits_for_a_lock(store.database)
    with pytest.raises(AttributeInUse) as refused:
        await removal
    assert refused.value.campaign_ids == (made.id,)
    await assert_dense(store)


async def _until_somebody_waits_for_a_lock(database: Database) -> None:
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    async with asyncio.timeout(10):
        while True:
            async with database.read() as connection:
                if (await connection.execute(waiting)).scalar_one() > 0:
                    return
            await asyncio.sleep(0.01)


async def test_of_two_writers_on_one_campaign_one_is_refused_with_the_current_version(
    store: Store, fields: Fields
) -> None:
    made = await campaign.create(store, "ann", fields())
    outcomes = await asyncio.gather(
        *(campaign.patch(store, "ann", made.id, {"name": f"n{i}"}, 1) for i in range(8)),
        return_exceptions=True,
    )
    won = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, VersionConflict)]
    assert (len(won), len(lost)) == (1, 7)
    assert {conflict.current for conflict in lost} == {2}
    assert await campaign.get(store, made.id) == won[0]


@pytest.mark.parametrize("turn", range(3))
async def test_an_attribute_is_never_removed_under_a_campaign(
    store: Store, fields: Fields, turn: int
) -> None:
    await attribute.create(store, "ann", {"name": "mood", "type": "string"})

    async def create() -> None:
        await asyncio.sleep(0.001 * turn)
        await campaign.create(store, "ann", fields(targeting="mood = 'good'"))

    outcomes = await asyncio.gather(
        attribute.delete(store, "ann", "mood"),
        *(create() for _ in range(4)),
        return_exceptions=True,
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert refused, "either the attribute is gone or it has campaigns"
    gone = not isinstance(outcomes[0], BaseException)
    assert {type(error) for error in refused} == ({InvalidFields} if gone else {AttributeInUse})
    users = (await campaign.page(store)).items
    assert bool(users) is not gone
    await assert_dense(store)


@pytest.mark.parametrize("table", ["changes", "audit_log"])
async def test_a_failure_between_row_and_log_leaves_nothing(
    store: Store, fields: Fields, table: str
) -> None:
    made = await campaign.create(store, "ann", fields())
    before = await log.read_head(store)
    async with _refusing_inserts(store, table):
        with pytest.raises(DBAPIError, match="refused"):
            await campaign.create(store, "ann", fields())
        with pytest.raises(DBAPIError, match="refused"):
            await campaign.activate(store, "ann", made.id)
    assert await log.read_head(store) == before
    assert (await campaign.page(store)).items == (made,)
    await assert_dense(store)


REFUSING = {
    "postgresql": (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'refused'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON {table} EXECUTE FUNCTION refuse()",
    ),
    "sqlite": (
        "CREATE TRIGGER refuse BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'refused'); END",
    ),
}
ACCEPTING = {"postgresql": "DROP FUNCTION refuse CASCADE", "sqlite": "DROP TRIGGER refuse"}


@asynccontextmanager
async def _refusing_inserts(store: Store, table: str) -> AsyncIterator[None]:
    dialect = store.database.engine.dialect.name
    async with store.database.write() as connection:
        for statement in REFUSING[dialect]:
            await connection.exec_driver_sql(statement.format(table=table))
    try:
        yield
    finally:
        async with store.database.write() as connection:
            await connection.exec_driver_sql(ACCEPTING[dialect])


async def test_a_rev_without_its_change_is_not_committed(store: Store) -> None:
    with pytest.raises(AssertionError):
        async with writing(store, "ann") as transaction:
            await transaction.take(1)
    assert (await log.read_head(store)).rev == 0


async def test_the_commit_is_announced_with_its_rev(postgres_url: str) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with Database(postgres_url) as database, database.engine.connect() as listener:
        driver = (await listener.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.add_listener("copse_changes", lambda *notice: heard.put_nowait(notice[3]))
        made = await advertiser.create(Store(database), "ann", {"name": "Shop"})
        async with asyncio.timeout(10):
            assert await heard.get() == str(made.rev)
        await driver.reset_query() if hasattr(driver, "reset_query") else None
        await listener.invalidate()
