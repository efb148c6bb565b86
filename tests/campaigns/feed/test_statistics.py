"""Statistics through the feed: they steer every index, change no answer, and hold nothing up."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import text

from campaigns.advertiser import service as advertiser
from campaigns.backoff import Backoff
from campaigns.campaign.imports import import_batch
from campaigns.catalogue import service as attribute
from campaigns.feed.apply import apply
from campaigns.feed.follower import Follower
from campaigns.feed.load import load
from campaigns.feed.service import WorkerFeed, open_source
from campaigns.feed.view import NamedStatistics, View
from campaigns.log.changes import Change
from campaigns.statistics import apply as statistics_apply
from campaigns.statistics import service
from campaigns.statistics.apply import BadStatistics, arrange, wants_arranging
from campaigns.statistics.document import canonical, checksum_of
from campaigns.statistics.gates import Finding
from campaigns.statistics.versions import StatisticsVersion
from campaigns.store import Store
from index import Limits
from tests.campaigns.feed.conftest import Databases, eventually
from tests.campaigns.feed.test_with_the_store import in_step, store_at
from tests.campaigns.feed.writing import active
from tests.campaigns.statistics.traffic import request, statistics

TARGETING = "country = 'US' and device.type = 'phone'"
RARE_PHONES = [request(country="US", device_type="phone" if n == 0 else "tv") for n in range(50)]
RARE_US = [request(country="US" if n == 0 else "DE", device_type="phone") for n in range(50)]
PASSED = [Finding("rows", True, "enough")]
US_PHONE = {"country": "US", "device.type": "phone"}


@asynccontextmanager
async def followed(
    kind: str, databases: Databases, directory: Path, keep_in: Path | None = None
) -> AsyncIterator[tuple[Store, WorkerFeed, str]]:
    """A store with one campaign, and a worker that follows it."""
    url = databases.create() if kind == "postgres" else f"sqlite:///{directory}/copse.db"
    async with store_at(url) as store, WorkerFeed(url, poll=0.05, keep_in=keep_in) as feed:
        for name in ("country", "device.type"):
            await attribute.create(store, "me", {"name": name, "type": "string"})
        owner = await advertiser.create(store, "me", {"name": "A"})
        line = {"name": "c", "advertiser_id": owner.id, "status": "active", "targeting": TARGETING}
        await import_batch(store, "me", [line | {"external_id": str(n)} for n in range(3)])
        yield store, feed, url


async def activated(store: Store, rows: list[dict[str, Any]]) -> StatisticsVersion:
    version = await service.keep(store, "nightly", *statistics(rows))
    await service.mark(store, "nightly", version.id, PASSED)
    return await service.activate(store, "nightly", version.id)


async def arranged_by(follower: Follower, id: int | None) -> View:
    async def done() -> bool:
        view = follower.current
        used = view.arranged.id if view is not None and view.arranged is not None else None
        return view is not None and view.settled and used == id

    await eventually(done, 10, f"arranged by {id}, but {follower.current}")
    assert follower.current is not None
    return follower.current


def access(view: View) -> object:
    entries: Any = view.index.plan(1)["entries"]
    return entries[0]["access"]


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
async def test_what_is_activated_steers_and_what_is_rolled_back_steers_again(
    kind: str, databases: Databases, tmp_path: Path
) -> None:
    async with followed(kind, databases, tmp_path) as (store, feed, url):
        first = await activated(store, RARE_PHONES)
        view = await arranged_by(feed.follower, first.id)
        assert "phone" in str(access(view))
        second = await activated(store, RARE_US)
        view = await arranged_by(feed.follower, second.id)
        assert "US" in str(access(view))
        assert view.index.match(US_PHONE) == [1, 2, 3]
        await in_step(feed.follower, store)

        async with WorkerFeed(url) as loads:
            fresh = await arranged_by(loads.follower, second.id)
            assert fresh.statistics == view.statistics
            assert (access(fresh), fresh.index.match(US_PHONE)) == (access(view), [1, 2, 3])

        source = open_source(url)
        loaded = await load(source, Limits())
        await source.close()
        assert (loaded.arranged, access(loaded)) == (view.statistics, access(view))

        await service.roll_back(store, "me")
        assert "phone" in str(access(await arranged_by(feed.follower, first.id)))
        await service.roll_back(store, "me")
        view = await arranged_by(feed.follower, None)
        assert view.statistics is None
        assert view.index.stats()["has_statistics"] is False
        assert view.poisoned == {}


async def test_a_stored_document_with_pairs_steers(databases: Databases, tmp_path: Path) -> None:
    pairs = [{"attributes": ["country", "device.type"], "values": [["US", "phone", 0.02]]}]
    document, sample = statistics(RARE_PHONES, pairs=pairs)
    async with followed("sqlite", databases, tmp_path) as (store, feed, _):
        version = await service.keep(store, "nightly", document, sample)
        assert version.checksum == checksum_of(canonical(document))
        assert await service.document(store, version.id) == document
        await service.mark(store, "nightly", version.id, PASSED)
        await service.activate(store, "nightly", version.id)
        view = await arranged_by(feed.follower, version.id)
        assert "phone" in str(access(view))
        assert view.poisoned == {}


async def test_an_index_file_is_arranged_anew_only_if_it_must_be(
    databases: Databases, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = tmp_path / "kept"
    caplog.set_level("INFO", "campaigns.statistics.apply")

    async with followed("sqlite", databases, tmp_path, kept) as (store, feed, url):
        first = await activated(store, RARE_PHONES)
        await arranged_by(feed.follower, first.id)
        assert feed.kept is not None
        await feed.follower.save(feed.kept)
        caplog.clear()
        async with WorkerFeed(url, keep_in=kept) as starts:
            view = await arranged_by(starts.follower, first.id)
            assert "phone" in str(access(view))
        assert "arranged by" not in caplog.text
        second = await activated(store, RARE_US)
        await arranged_by(feed.follower, second.id)
        caplog.clear()
        async with WorkerFeed(url, keep_in=kept) as starts:
            view = await arranged_by(starts.follower, second.id)
            assert "US" in str(access(view))
        assert f"arranged by the statistics {second.id}" in caplog.text


async def test_a_document_that_is_not_the_one_holds_nothing_up(
    databases: Databases, tmp_path: Path
) -> None:
    async with followed("sqlite", databases, tmp_path) as (store, feed, url):
        first = await activated(store, RARE_PHONES)
        await arranged_by(feed.follower, first.id)
        second = await service.keep(store, "nightly", *statistics(RARE_US))
        async with store.database.write() as connection:
            await connection.execute(
                text(f"UPDATE statistics SET document = '{{}}' WHERE id = {second.id}")
            )
        await service.activate(store, "me", second.id, force=True)
        owner = await advertiser.create(store, "me", {"name": "B"})
        line = {"name": "d", "advertiser_id": owner.id, "status": "active"}
        await import_batch(store, "me", [line | {"external_id": "d"}])
        view = await in_step(feed.follower, store)

        async def poisoned() -> bool:
            return ("statistics", str(second.id)) in view.poisoned

        await eventually(poisoned, 10, "poisoned")
        assert view.arranged
        assert (view.arranged.id, wants_arranging(view)) == (first.id, False)
        assert "phone" in str(access(view))
        assert view.index.match(US_PHONE) == [1, 2, 3, 4]
        async with WorkerFeed(url) as loads:
            fresh = await in_step(loads.follower, store)
            assert set(fresh.poisoned) == {("statistics", str(second.id))}
            assert fresh.statistics == view.statistics
            assert fresh.index.match(US_PHONE) == [1, 2, 3, 4]
        await service.roll_back(store, "me")
        view = await in_step(feed.follower, store)
        assert view.poisoned == {}


async def test_a_fetch_that_fails_is_tried_again(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics_apply, "BACKOFF", Backoff(0.02, 0.02))

    async with followed("sqlite", databases, tmp_path) as (store, feed, _):
        version = await service.keep(store, "nightly", *statistics(RARE_PHONES))
        async with store.database.write() as connection:
            await connection.execute(text("ALTER TABLE statistics RENAME document TO hidden"))
        await service.activate(store, "me", version.id, force=True)
        view = await in_step(feed.follower, store)
        assert (view.statistics is not None, view.arranged) == (True, None)
        assert view.index.match(US_PHONE) == [1, 2, 3]
        async with store.database.write() as connection:
            await connection.execute(text("ALTER TABLE statistics RENAME hidden TO document"))
        await arranged_by(feed.follower, version.id)


MANY = 30_000
B = [[value, 0.09] for value in range(11)]


def large_view() -> View:
    """Many campaigns, each of them another expression."""
    view = View.empty({"a": "int", "b": "int"}, Limits())
    view.arrive("e", 0, "")
    view.index.insert_json(
        (
            id,
            orjson.dumps([1, ["and", ["=", "a", id % 7], ["=", "b", id % 11], [">", "a", -id]]]),
        )
        for id in range(1, MANY + 1)
    )
    return view


def test_matches_and_changes_go_on_while_everything_is_planned_anew() -> None:
    view = large_view()
    attributes = {
        "a": {"type": "int", "presence": 1.0, "distinct": 7, "values": [[3, 0.9]]},
        "b": {
            "type": "int",
            "presence": 1.0,
            "distinct": 11,
            "values": [[n, 0.09] for n in range(11)],
        },
    }
    document, _ = statistics(attributes=attributes)
    content = canonical(document)
    named = NamedStatistics(1, checksum_of(content), 0.0, 1.0)
    event = {"a": 3, "b": 5}
    before = view.index.match(event)
    planned = view.index.plan(before[0])
    planning = threading.Thread(target=arrange, args=(view, named, content.decode()))
    planning.start()
    during = 0
    rev = 0
    while planning.is_alive():
        rev += 1
        added = active(MANY + rev, 1, tree=[1, ["=", "b", 99]])
        apply(view, [Change(rev, "campaign", str(MANY + rev), f"n{rev}", orjson.dumps(added), 0)])
        assert view.index.match({"b": 99}) == list(range(MANY + 1, MANY + rev + 1))
        assert view.index.match(event) == before
        during += planning.is_alive()
    planning.join()
    assert during > 3, "no change was applied while it was planned"
    assert view.index.match(event) == before
    assert view.index.plan(before[0]) != planned
    assert (view.arranged, view.settled) == (named, True)
    view.index.check_invariants()


def test_what_the_index_refuses_leaves_it_as_it_was() -> None:
    view = View.empty({"a": "int"}, Limits())
    document, _ = statistics(attributes={"a": {"presence": 2.0}})
    content = canonical(document)
    named = NamedStatistics(1, checksum_of(content), 0.0, 1.0)
    with pytest.raises(BadStatistics, match="2 is not between 0 and 1"):
        arrange(view, named, content.decode())
    for wrong in (None, content.decode() + " "):
        with pytest.raises(BadStatistics, match="not the one"):
            arrange(view, named, wrong)
    assert (view.arranged, view.settled) == (None, True)
