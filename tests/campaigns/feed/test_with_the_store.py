"""What the store writes, a replica reads: the same from a snapshot and from the log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from campaigns.advertiser import service as advertiser
from campaigns.campaign import service as campaign
from campaigns.catalogue import service as attribute
from campaigns.database.engine import Database
from campaigns.feed.follower import Follower
from campaigns.feed.service import WorkerFeed
from campaigns.feed.view import View
from campaigns.keys import service as key
from campaigns.log import service as store_log
from campaigns.store import Store
from index import digest_of
from tests.campaigns.feed.conftest import Databases, at
from tests.campaigns.feed.writing import ddl, log_cut_connections

WEDNESDAY = 1795132800.0 - 2 * 86_400  # 2026-11-18T00:00:00Z


@asynccontextmanager
async def store_at(url: str) -> AsyncIterator[Store]:
    log_cut_connections()
    async with Database(url) as database:
        if url.startswith("sqlite"):
            async with database.write() as connection:
                for statement in ddl("sqlite"):
                    await connection.execute(text(statement))
        yield Store(database)


async def in_step(follower: Follower, store: Store) -> View:
    truth = await store_log.digest(store, digest_of)
    await at(follower, (truth.epoch, truth.rev, truth.digest))
    assert follower.current is not None
    return follower.current


def seen(view: View) -> list[object]:
    """Everything that a view says, in one comparable value."""
    events: list[dict[str, object]] = [
        {"country": c, "age": a} for c in ("US", "é") for a in (5, 30)
    ]
    return [
        *(
            view.index.top(event, 10, at, total=True)
            for event in events
            for at in (None, WEDNESDAY, 2e9)
        ),
        *(view.index.labels(id) for id in range(1, 10)),
        *(view.domains, view.keys, view.catalogue, view.index.muted(), view.poisoned),
    ]


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
async def test_a_follower_and_a_fresh_snapshot_see_the_same(
    kind: str, databases: Databases, tmp_path: Path
) -> None:
    url = databases.create() if kind == "postgres" else f"sqlite:///{tmp_path}/copse.db"

    async with store_at(url) as store, WorkerFeed(url, poll=0.05) as follows:
        for name, type in (("country", "string"), ("age", "int"), ("unused", "bool")):
            await attribute.create(store, "me", {"name": name, "type": type})
        first = await advertiser.create(store, "me", {"name": "A", "domain": "a.example"})
        second = await advertiser.create(store, "me", {"name": "B"})
        common = {"name": "c", "advertiser_id": first.id, "bid_micros": 1_200_000}
        texts = ["country = 'US'", "country = 'é' and age >= 18", "true", "now.hour < 24"]
        made = [
            await campaign.create(
                store,
                "me",
                common
                | {"targeting": text, "priority": n, "categories": ["IAB1", "IAB2"][:n]}
                | {"starts_at": "2026-11-18T00:00:00Z", "ends_at": "2026-11-20T00:00:00.5Z"},
            )
            for n, text in enumerate(texts)
        ]
        for each in made:
            await campaign.activate(store, "me", each.id)
        other = await campaign.create(
            store,
            "me",
            {"name": "d", "advertiser_id": second.id, "targeting": "true", "bid_micros": 5},
        )
        await campaign.activate(store, "me", other.id)
        await advertiser.pause(store, "me", second.id)
        await campaign.patch(store, "me", made[0].id, {"targeting": "age = 5"}, version=None)
        await campaign.pause(store, "me", made[2].id)
        await attribute.delete(store, "me", "unused")
        await key.create(store, "me", {"name": "k", "scopes": ["match"]})
        gone = await key.create(store, "me", {"name": "l", "scopes": ["match"]})
        await key.revoke(store, "me", gone.key.id)
        view = await in_step(follows.follower, store)
        async with WorkerFeed(url) as loads:
            assert seen(await in_step(loads.follower, store)) == seen(view)
        assert view.poisoned == {}
        assert len(view.keys) == 1
        assert view.index.match({"country": "é", "age": 30}, WEDNESDAY) == [made[1].id]
        assert view.index.match({"country": "é", "age": 30}, WEDNESDAY - 0.1) == []
