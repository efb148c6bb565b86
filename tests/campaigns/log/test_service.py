"""The log as a whole: pruning, epochs, digests."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta

import pytest

from campaigns.advertiser import service as advertiser
from campaigns.campaign import service as campaign
from campaigns.database.engine import Database
from campaigns.log import audit
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.conftest import Fields
from tests.campaigns.history import all_changes

START = datetime(2026, 11, 16, tzinfo=UTC)


class Clock:
    """A minute later at each look."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with Database(database_url) as database:
        yield Store(database, now=Clock())


async def revs(store: Store) -> list[int]:
    return [change.rev for change in await all_changes(store)]


async def test_the_log_is_pruned_by_count(store: Store) -> None:
    for _ in range(6):
        await advertiser.create(store, "ann", {"name": "Shop"})
    assert await log.prune(store, keep_changes=2) == 4
    assert await revs(store) == [5, 6]
    assert (await log.read_head(store)).pruned_rev == 4
    assert await log.prune(store, keep_changes=2) == 0
    assert (await advertiser.create(store, "ann", {"name": "Shop"})).rev == 7


async def test_the_log_is_pruned_by_age(store: Store) -> None:
    for _ in range(6):
        await advertiser.create(store, "ann", {"name": "Shop"})
    # Written in the minutes 1 to 6; it is minute 7 now.
    assert await log.prune(store, keep_for=timedelta(minutes=3)) == 3
    assert (await revs(store), (await log.read_head(store)).pruned_rev) == ([4, 5, 6], 3)


async def test_the_last_change_stays(store: Store) -> None:
    for _ in range(3):
        await advertiser.create(store, "ann", {"name": "Shop"})
    assert await log.prune(store, keep_changes=1, keep_for=timedelta(0)) == 2
    assert await revs(store) == [3]
    with pytest.raises(ValueError, match="at least one"):
        await log.prune(store, keep_changes=0)


async def test_without_a_rule_nothing_is_pruned(store: Store) -> None:
    await advertiser.create(store, "ann", {"name": "Shop"})
    assert await log.prune(store) == 0


async def test_pruning_goes_in_steps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "_A_TRANSACTION", 2)
    for _ in range(7):
        await advertiser.create(store, "ann", {"name": "Shop"})
    assert await log.prune(store, keep_changes=2) == 5
    assert (await revs(store), (await log.read_head(store)).pruned_rev) == ([6, 7], 5)


async def test_a_new_epoch_keeps_the_rev_and_is_audited(store: Store) -> None:
    await advertiser.create(store, "ann", {"name": "Shop"})
    before = await log.read_head(store)
    after = await log.new_epoch(store, "cli")
    assert after == await log.read_head(store)
    assert after.epoch != before.epoch
    assert after.rev == before.rev == 1
    entry = (await audit.page(store)).items[0]
    assert (entry.action, entry.kind, entry.actor, entry.rev) == ("new-epoch", "feed", "cli", 1)


async def test_the_digest_is_of_the_active_campaigns_at_a_rev(store: Store, fields: Fields) -> None:
    made = [await campaign.create(store, "ann", fields()) for _ in range(3)]
    await campaign.activate(store, "ann", made[0].id)
    await campaign.activate(store, "ann", made[2].id)
    last = await campaign.patch(store, "ann", made[2].id, {"name": "x"}, None)
    seen: list[tuple[int, int]] = []

    def digest_of(pairs: Iterable[tuple[int, int]]) -> int:
        seen.extend(pairs)
        return 42

    digest = await log.digest(store, digest_of)
    assert (digest.rev, digest.count, digest.digest) == (last.rev, 2, 42)
    assert digest.epoch == (await log.read_head(store)).epoch
    assert sorted(seen) == [(made[0].id, 2), (made[2].id, 3)]
