"""The life of an advertiser, on both databases."""

import asyncio

import pytest

from campaigns.advertiser import service as advertiser
from campaigns.advertiser.service import AdvertiserFilter
from campaigns.campaign import service as campaign
from campaigns.errors import (
    AdvertiserInUse,
    InvalidFields,
    NotFound,
    TransitionRefused,
    VersionConflict,
)
from campaigns.store import Store
from tests.campaigns.conftest import Fields
from tests.campaigns.history import assert_dense, changes_of


async def test_its_changes_are_in_the_log(store: Store) -> None:
    made = await advertiser.create(store, "ann", {"name": "Shop", "domain": "Shop.Example."})
    assert (made.domain, made.status, made.version, made.rev) == ("shop.example", "active", 1, 1)
    await advertiser.pause(store, "ann", made.id, 1)
    await advertiser.resume(store, "ann", made.id)
    patched = await advertiser.patch(store, "ann", made.id, {"domain": None}, 3)
    assert await advertiser.get(store, made.id) == patched
    await advertiser.delete(store, "ann", made.id, 4)
    shown = [change.content() for change in await changes_of(store, "advertiser")]
    common: dict[str, object] = {"id": made.id, "seat": None, "apps": []}
    assert shown == [
        {**common, "version": 1, "status": "active", "domain": "shop.example"},
        {**common, "version": 2, "status": "paused", "domain": "shop.example"},
        {**common, "version": 3, "status": "active", "domain": "shop.example"},
        {**common, "version": 4, "status": "active", "domain": None},
        None,
    ]
    with pytest.raises(NotFound):
        await advertiser.get(store, made.id)


@pytest.mark.parametrize("domain", ["shop", "-a.example", "a..example", "ä.example", "a/b.example"])
async def test_a_domain_has_the_form_of_one(store: Store, domain: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        await advertiser.create(store, "ann", {"name": "Shop", "domain": domain})
    assert [problem.code for problem in refused.value.problems] == ["domain.syntax"]


async def test_it_is_not_deleted_while_it_has_campaigns(
    store: Store, fields: Fields, advertiser_id: int
) -> None:
    made = await campaign.create(store, "ann", fields())
    with pytest.raises(AdvertiserInUse) as refused:
        await advertiser.delete(store, "ann", advertiser_id)
    assert (refused.value.campaign_ids, refused.value.total) == ((made.id,), 1)
    await campaign.delete(store, "ann", made.id)
    await advertiser.delete(store, "ann", advertiser_id)


async def test_it_is_never_deleted_under_a_campaign(
    store: Store, fields: Fields, advertiser_id: int
) -> None:
    outcomes = await asyncio.gather(
        advertiser.delete(store, "ann", advertiser_id),
        *(campaign.create(store, "ann", fields()) for _ in range(4)),
        return_exceptions=True,
    )
    refused = {type(outcome) for outcome in outcomes if isinstance(outcome, BaseException)}
    assert refused in ({AdvertiserInUse}, {InvalidFields})
    assert bool((await campaign.page(store)).items) is (refused == {AdvertiserInUse})
    await assert_dense(store)


async def test_refusals(store: Store, advertiser_id: int) -> None:
    with pytest.raises(TransitionRefused):
        await advertiser.resume(store, "ann", advertiser_id)
    with pytest.raises(VersionConflict) as stale:
        await advertiser.pause(store, "ann", advertiser_id, 7)
    assert stale.value.current == 1
    with pytest.raises(NotFound):
        await advertiser.pause(store, "ann", advertiser_id + 1)
    with pytest.raises(InvalidFields):
        await advertiser.patch(store, "ann", advertiser_id, {"status": "paused"}, 1)


async def test_lists_are_filtered(store: Store) -> None:
    for name in ("Apples", "Pears", "100% Plums"):
        await advertiser.create(store, "ann", {"name": name})
    paused = (await advertiser.page(store)).items[1]
    await advertiser.pause(store, "ann", paused.id)

    async def names(**filters: str) -> list[str]:
        found = await advertiser.page(store, AdvertiserFilter(**filters))
        return [item.name for item in found.items]

    assert await names(status="paused") == ["Pears"]
    assert await names(text="pLu") == ["100% Plums"]
    assert await names(text="%") == ["100% Plums"]
    assert await names() == ["Apples", "Pears", "100% Plums"]


async def test_a_seat_and_apps_are_stored_and_in_the_change(store: Store) -> None:
    sent = {"name": "Shop", "seat": "s-7", "apps": ["Com.Shop", "com.shop ", "628677149"]}
    made = await advertiser.create(store, "ann", sent)
    assert (made.seat, made.apps) == ("s-7", ("com.shop", "628677149"))
    assert await advertiser.get(store, made.id) == made
    assert (
        await advertiser.patch(store, "ann", made.id, {"apps": ["com.shop", "628677149"]}, 1)
        == made
    )
    patched = await advertiser.patch(store, "ann", made.id, {"seat": None, "apps": None}, 1)
    assert (patched.seat, patched.apps, patched.version) == (None, (), 2)
