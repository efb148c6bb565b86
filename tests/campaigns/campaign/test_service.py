"""The life of a campaign, on both databases."""

import pytest

from campaigns.campaign import service as campaign
from campaigns.campaign.statuses import CAMPAIGN_STATUSES, CAMPAIGN_TRANSITIONS
from campaigns.errors import (
    Final,
    InvalidFields,
    NotFound,
    StillActive,
    Taken,
    TransitionRefused,
    VersionConflict,
)
from campaigns.log import audit
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.conftest import Fields
from tests.campaigns.history import changes_of


async def test_a_new_campaign_is_a_draft_that_reads_back(store: Store, fields: Fields) -> None:
    made = await campaign.create(
        store,
        "ann",
        fields(
            external_id="spring-24",
            starts_at="2026-11-20T01:00:00+01:00",
            ends_at="2026-11-21T00:00:00Z",
            priority=5,
            bid_micros=1_200_000,
            categories=["IAB2", "IAB3", "IAB2"],
            targeting="country in ('US') and now.hour between 8 and 20",
        ),
    )
    assert await campaign.get(store, made.id) == made
    shown = made.to_dict()
    assert shown.pop("created_at") == shown.pop("updated_at")
    assert shown == {
        "id": made.id,
        "external_id": "spring-24",
        "advertiser_id": made.advertiser_id,
        "name": "Spring",
        "status": "draft",
        "starts_at": "2026-11-20T00:00:00Z",
        "ends_at": "2026-11-21T00:00:00Z",
        "priority": 5,
        "bid_micros": 1_200_000,
        "categories": ["IAB2", "IAB3"],
        "targeting": "country in ('US') and now.hour between 8 and 20",
        "version": 1,
        "rev": 2,
    }
    assert made.attribute_names == ("country", "now.hour")


async def test_a_campaign_needs_only_a_name_and_an_advertiser(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields())
    assert (made.targeting, made.priority, made.bid_micros) == ("true", 0, 0)
    assert (made.starts_at, made.ends_at, made.external_id, made.categories) == (None,) * 3 + ((),)


async def test_all_problems_are_reported_at_once(store: Store) -> None:
    with pytest.raises(InvalidFields) as refused:
        await campaign.create(
            store,
            "ann",
            {
                "name": " ",
                "bid_micros": 2**53,
                "priority": 1024,
                "starts_at": "2026-11-20T00:00:00",
                "categories": ["IAB1", 7],
                "status": "active",
                "colour": "red",
                "targeting": "contry = 'US'",
            },
        )
    assert {(p.pointer, p.code) for p in refused.value.problems} == {
        ("/name", "text.blank"),
        ("/bid_micros", "integer.range"),
        ("/priority", "integer.range"),
        ("/starts_at", "moment.zone"),
        ("/categories/1", "type.string"),
        ("/status", "field.read_only"),
        ("/colour", "field.unknown"),
        ("/advertiser_id", "field.missing"),
        ("/targeting", "attribute.unknown"),
    }
    [wrong] = [p for p in refused.value.problems if p.expression]
    assert wrong.expression
    assert wrong.expression.hint == "did you mean country?"


@pytest.mark.parametrize(
    ("changed", "pointer", "code"),
    [
        ({"starts_at": "2026-11-20T00:00:00Z", "ends_at": "2026-11-20T00:00:00Z"},
         "/ends_at", "window.empty"),
        ({"starts_at": "0001-01-01T00:00:00+10:00"}, "/starts_at", "moment.range"),
        ({"advertiser_id": 999}, "/advertiser_id", "advertiser.unknown"),
        ({"advertiser_id": 2**63}, "/advertiser_id", "integer.range"),
        ({"name": "a\0b"}, "/name", "text.nul"),
        ({"name": "\ud800"}, "/name", "text.surrogate"),
        ({"name": "n" * 201}, "/name", "text.long"),
        ({"priority": True}, "/priority", "type.integer"),
        ({"categories": ["c"] * 101}, "/categories", "list.long"),
        ({"targeting": ""}, "/targeting", "syntax.empty"),
    ],
)  # fmt: skip
async def test_a_wrong_field_is_refused(
    store: Store, fields: Fields, changed: dict[str, object], pointer: str, code: str
) -> None:
    with pytest.raises(InvalidFields) as refused:
        await campaign.create(store, "ann", fields(**changed))
    assert [(p.pointer, p.code) for p in refused.value.problems] == [(pointer, code)]
    assert (await log.read_head(store)).rev == 1  # the advertiser's


async def test_a_patch_changes_what_it_names(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(external_id="x", bid_micros=7))
    patched = await campaign.patch(
        store, "bob", made.id, {"name": "Autumn", "external_id": None, "targeting": "age > 3"}, 1
    )
    assert (patched.version, patched.rev) == (2, made.rev + 1)
    assert (patched.name, patched.external_id, patched.bid_micros) == ("Autumn", None, 7)
    assert (patched.attribute_names, patched.created_at) == (("age",), made.created_at)
    assert await campaign.get(store, made.id) == patched


async def test_a_patch_that_changes_nothing_writes_nothing(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(targeting="age > 3"))
    patched = await campaign.patch(store, "ann", made.id, {"targeting": "age > 3"}, 1)
    assert patched == made
    assert (await log.read_head(store)).rev == made.rev


async def test_a_window_is_checked_against_what_is_stored(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(ends_at="2026-11-20T00:00:00Z"))
    with pytest.raises(InvalidFields, match="ends_at"):
        await campaign.patch(store, "ann", made.id, {"starts_at": "2026-11-21T00:00:00Z"}, None)


async def test_a_stale_version_gets_the_current_one(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields())
    await campaign.patch(store, "ann", made.id, {"name": "b"}, 1)
    with pytest.raises(VersionConflict) as refused:
        await campaign.patch(store, "bob", made.id, {"name": "c"}, 1)
    assert (refused.value.expected, refused.value.current) == (1, 2)


async def test_an_external_id_is_given_once(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(external_id="x"))
    other = await campaign.create(store, "ann", fields())
    with pytest.raises(Taken):
        await campaign.create(store, "ann", fields(external_id="x"))
    with pytest.raises(Taken):
        await campaign.patch(store, "ann", other.id, {"external_id": "x"}, None)
    await campaign.delete(store, "ann", made.id)
    assert (await campaign.create(store, "ann", fields(external_id="x"))).id > other.id


@pytest.mark.parametrize("start", CAMPAIGN_STATUSES)
async def test_transitions_are_those_of_the_table(store: Store, fields: Fields, start: str) -> None:
    moves = {"active": campaign.activate, "paused": campaign.pause, "archived": campaign.archive}
    ways = {"draft": [], "active": ["active"], "paused": ["active", "paused"]}
    for wanted, move in moves.items():
        made = await campaign.create(store, "ann", fields())
        for step in ways.get(start, ["archived"]):
            made = await moves[step](store, "ann", made.id)
        assert made.status == start
        if wanted in CAMPAIGN_TRANSITIONS[start]:
            assert (await move(store, "ann", made.id, made.version)).status == wanted
        else:
            with pytest.raises(TransitionRefused):
                await move(store, "ann", made.id)


async def test_an_archived_campaign_is_final_and_can_be_deleted(
    store: Store, fields: Fields
) -> None:
    made = await campaign.create(store, "ann", fields())
    await campaign.archive(store, "ann", made.id)
    with pytest.raises(Final):
        await campaign.patch(store, "ann", made.id, {"name": "b"}, None)
    await campaign.delete(store, "ann", made.id)
    with pytest.raises(NotFound):
        await campaign.get(store, made.id)


async def test_an_active_campaign_is_not_deleted(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields())
    await campaign.activate(store, "ann", made.id)
    with pytest.raises(StillActive):
        await campaign.delete(store, "ann", made.id)


async def test_an_id_is_never_given_again(store: Store, fields: Fields) -> None:
    first = await campaign.create(store, "ann", fields())
    await campaign.delete(store, "ann", first.id)
    assert (await campaign.create(store, "ann", fields())).id > first.id


@pytest.mark.parametrize("id", [0, -1, 999, 2**63, 2**80])
async def test_what_is_not_there_is_not_found(store: Store, id: int) -> None:
    with pytest.raises(NotFound):
        await campaign.get(store, id)
    with pytest.raises(NotFound):
        await campaign.activate(store, "ann", id)


async def test_every_write_has_its_change_and_its_audit_entry(store: Store, fields: Fields) -> None:
    made = await campaign.create(
        store,
        "ann",
        fields(targeting="age > 3", starts_at="2026-11-20T00:00:00Z", bid_micros=9, priority=2),
    )
    await campaign.activate(store, "bob", made.id)
    await campaign.pause(store, "ann", made.id)
    await campaign.delete(store, "bob", made.id)
    short = {"id": made.id, "advertiser_id": made.advertiser_id}
    active = {
        "priority": 2,
        "bid_micros": 9,
        "starts_at": 1795132800,
        "ends_at": None,
        "categories": [],
        "tree": [1, [">", "age", 3]],
    }
    assert [change.content() for change in await changes_of(store, "campaign")] == [
        {**short, "version": 1, "status": "draft"},
        {**short, "version": 2, "status": "active", **active},
        {**short, "version": 3, "status": "paused"},
        None,
    ]
    entries = (await audit.page(store, audit.AuditFilter(kind="campaign"))).items
    logged = [(entry.rev, entry.actor, entry.action, entry.object_id) for entry in entries]
    actions = [("bob", "delete"), ("ann", "pause"), ("bob", "activate"), ("ann", "create")]
    assert logged == [
        (rev, *action, str(made.id)) for rev, action in zip((5, 4, 3, 2), actions, strict=True)
    ]
    assert entries[0].after is None
    assert entries[0].before == entries[1].after
    assert entries[-1].before is None
    assert entries[-1].after == made.to_dict()
