"""Versions of the statistics in the store: kept once, judged, activated, rolled back."""

import asyncio

import pytest

from campaigns.errors import GateClosed, InvalidFields, NoneActive, NotFound, SampleGone
from campaigns.log import audit
from campaigns.log.audit import AuditFilter
from campaigns.statistics import repository as stored
from campaigns.statistics import service
from campaigns.statistics.gates import Finding
from campaigns.statistics.sample import unpack
from campaigns.statistics.versions import StatisticsVersion
from campaigns.store import Store
from tests.campaigns.history import assert_dense, changes_of
from tests.campaigns.statistics.traffic import request, statistics

GOOD = [Finding("rows", True, "4 rows, of at least 1")]
BAD = [*GOOD, Finding("drift", False, "age has drifted", "age", 0.4, 0.25)]
ROWS = [request(country="US"), request(country="US"), request(country="DE"), request(age=30)]


async def kept(store: Store, rows: int = 4, findings: list[Finding] = GOOD) -> StatisticsVersion:
    version = await service.keep(store, "nightly", *statistics(ROWS[:rows]))
    return await service.mark(store, "nightly", version.id, findings)


async def has_sample(store: Store, id: int) -> bool:
    async with store.database.read() as connection:
        return await stored.has_sample(connection, id)


async def test_what_is_kept_comes_back(store: Store) -> None:
    document, sample = statistics(ROWS)
    version = await service.keep(store, "nightly", document, sample)
    assert (version.rows, version.requests, version.gates) == (4, 4.0, "unjudged")
    assert (version.active, version.drift, version.previous_id) == (False, None, None)
    assert await service.get(store, version.id) == version
    assert await service.document(store, version.id) == document
    assert [row.attributes for row in unpack(await service.sample(store, version.id))] == [
        b'{"country":"US"}',
        b'{"country":"US"}',
        b'{"country":"DE"}',
        b'{"age":30}',
    ]
    assert await service.active(store) is None


async def test_the_same_content_is_one_version(store: Store) -> None:
    first = await service.keep(store, "nightly", *statistics(ROWS))
    assert await service.keep(store, "again", *statistics(ROWS)) == first
    others = await asyncio.gather(
        *(service.keep(store, "racing", *statistics(ROWS[:2])) for _ in range(5))
    )
    assert len({version.id for version in others}) == 1
    assert len((await service.page(store)).items) == 2
    await assert_dense(store)


async def test_a_version_says_what_changed_since_the_one_before(store: Store) -> None:
    before = await service.keep(store, "nightly", *statistics(ROWS[:2] * 100))
    after = await service.keep(store, "nightly", *statistics(ROWS * 100))
    assert after.drift
    assert after.drift["against"] == before.id
    country = after.drift["attributes"]["country"]
    assert (country["presence_before"], country["presence_after"]) == (1.0, 0.75)
    assert country["psi"] > 0.25 > country["chance"] > 0
    assert after.drift["attributes"]["age"]["presence_before"] is None


async def test_what_the_gates_refuse_is_activated_by_force_alone(store: Store) -> None:
    version = await service.keep(store, "nightly", *statistics(ROWS))
    with pytest.raises(GateClosed, match="have not judged"):
        await service.activate(store, "key:1", version.id)
    await service.mark(store, "nightly", version.id, BAD)
    with pytest.raises(GateClosed, match="age has drifted") as refused:
        await service.activate(store, "key:1", version.id)
    assert [finding["attribute"] for finding in refused.value.findings] == ["age"]
    assert await service.active(store) is None
    forced = await service.activate(store, "key:1", version.id, force=True)
    assert forced.active
    assert await service.active(store) == forced
    [entry, *_] = (await audit.page(store, AuditFilter(kind="statistics"))).items
    assert (entry.action, entry.actor, entry.object_id) == (
        "force_activate",
        "key:1",
        str(version.id),
    )


async def test_one_steers_and_the_one_before_can_again(store: Store) -> None:
    first, second = await kept(store, 2), await kept(store, 4)
    with pytest.raises(NoneActive):
        await service.roll_back(store, "key:1")
    await service.activate(store, "key:1", first.id)
    activated = await service.activate(store, "key:1", second.id)
    assert activated.previous_id == first.id
    assert await service.activate(store, "key:1", second.id) == activated
    assert not (await service.get(store, first.id)).active
    back = await service.roll_back(store, "key:1")
    assert back.active
    assert (back.active.id, back.active.active) == (first.id, True)
    assert (await service.roll_back(store, "key:1")).active is None
    assert await service.active(store) is None
    await assert_dense(store)
    logged = [
        (content["id"], content["active"])
        for change in await changes_of(store, "statistics")
        if (content := change.content())
    ]
    assert logged[4:] == [(first.id, True), (second.id, True), (first.id, True), (first.id, False)]


async def test_activated_by_many_at_once_it_is_written_once(store: Store) -> None:
    version = await kept(store)
    found = await asyncio.gather(*(service.activate(store, "racing", version.id) for _ in range(5)))
    assert found == [await service.get(store, version.id)] * 5
    entries = (await audit.page(store, AuditFilter(kind="statistics"))).items
    assert [entry.action for entry in entries] == ["activate", "judge", "create"]
    await assert_dense(store)


async def test_a_change_is_small_and_names_the_document(store: Store) -> None:
    version = await kept(store)
    await service.activate(store, "key:1", version.id)
    change = (await changes_of(store, "statistics"))[-1]
    assert change.content() == {
        "id": version.id,
        "checksum": version.checksum,
        "from": 1794787200,
        "to": 1794873599,
        "active": True,
    }


async def test_pages_go_from_the_newest(store: Store) -> None:
    ids = [(await kept(store, rows)).id for rows in (1, 2, 3)]
    first = await service.page(store, limit=2)
    assert [version.id for version in first.items] == [ids[2], ids[1]]
    second = await service.page(store, limit=2, cursor=first.next_cursor)
    assert [version.id for version in second.items] == [ids[0]]
    assert second.next_cursor is None


async def test_old_samples_go_and_the_versions_stay(store: Store) -> None:
    """But for the active version, and the one that a roll-back leads to."""
    ids = []
    for number in range(8):
        rows = [request(country="US", weight=number + 1.0)]
        version = await service.keep(store, "nightly", *statistics(rows), samples=3)
        await service.mark(store, "nightly", version.id, GOOD)
        ids.append(version.id)
        if number in (1, 2):
            await service.activate(store, "key:1", version.id)
    assert [id for id in ids if await has_sample(store, id)] == [*ids[1:3], *ids[5:]]
    assert [version.id for version in (await service.page(store)).items] == ids[::-1]
    assert (await service.document(store, ids[0]))["rows"] == 1
    back = await service.roll_back(store, "key:1")
    assert back.active
    assert unpack(await service.sample(store, back.active.id))[0].weight == 2.0
    with pytest.raises(SampleGone, match=f"statistics {ids[4]} are no longer kept"):
        await service.sample(store, ids[4])
    await assert_dense(store)


async def test_a_version_that_comes_again_has_its_sample_again(store: Store) -> None:
    first = await service.keep(store, "nightly", *statistics(ROWS[:1]), samples=1)
    await service.keep(store, "nightly", *statistics(ROWS[:2]), samples=1)
    assert not await has_sample(store, first.id)
    again = await asyncio.gather(
        *(service.keep(store, "again", *statistics(ROWS[:1]), samples=1) for _ in range(3))
    )
    assert again == [first] * 3
    assert await service.sample(store, first.id) == statistics(ROWS[:1])[1]
    await assert_dense(store)


async def test_a_long_backlog_goes_bit_by_bit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_PRUNED_AT_ONCE", 2)
    ids = [(await kept(store, rows)).id for rows in (1, 2, 3)]
    for number in (1, 2):
        rows = [request(age=number)]
        ids.append((await service.keep(store, "nightly", *statistics(rows), samples=1)).id)
        left = ids[2:] if number == 1 else ids[4:]
        assert [id for id in ids if await has_sample(store, id)] == left


async def test_refusals(store: Store) -> None:
    document, sample = statistics(ROWS)
    other = statistics(ROWS[:2])[1]
    for wrong, content in (
        ({**document, "schema": 2}, sample),
        ({**document, "sample": {**document["sample"], "rows": 3}}, sample),
        (document, other),
        (statistics(ROWS, sample=document["sample"] | {"checksum": "no"})[0], sample),
    ):
        with pytest.raises(InvalidFields):
            await service.keep(store, "nightly", wrong, content)
    for read in (service.get, service.document, service.sample):
        with pytest.raises(NotFound):
            await read(store, 7)
    with pytest.raises(NotFound):
        await service.mark(store, "nightly", 7, GOOD)
    with pytest.raises(NotFound):
        await service.activate(store, "nightly", 7)
    assert not (await service.page(store)).items
