"""The catalogue, on both databases."""

import pytest

from campaigns.campaign import service as campaign
from campaigns.catalogue import service as attribute
from campaigns.errors import (
    AttributeInUse,
    BuiltIn,
    CatalogueFull,
    InvalidFields,
    NotFound,
    Taken,
    VersionConflict,
)
from campaigns.log import service as log
from campaigns.statistics import service as statistics_service
from campaigns.store import Store
from tests.campaigns.conftest import Fields
from tests.campaigns.history import changes_of
from tests.campaigns.statistics.traffic import request, statistics


async def test_the_first_catalogue_knows_the_words_of_the_guide(store: Store) -> None:
    types = {record.name: record.type for record in await attribute.every(store)}
    assert types.items() >= {
        ("country", "string"),
        ("device.type", "string"),
        ("segments", "int list"),
        ("age", "int"),
        ("categories", "string list"),
        ("site.domain", "string"),
        ("imp.floor_micros", "int"),
        ("now.hour", "int"),
        ("now.weekday", "int"),
        ("request.blocked_categories", "string list"),
    }
    assert list(types) == sorted(types)
    schema = (await store.catalogue()).schema
    assert {declared.name: declared.type.value for declared in schema} == types


async def test_an_added_attribute_can_be_used_and_is_logged(store: Store, fields: Fields) -> None:
    other = Store(store.database)  # another worker, with a catalogue of its own in memory
    await other.catalogue()
    made = await attribute.create(
        store, "ann", {"name": "mood", "type": "string", "description": "how it is"}
    )
    assert await attribute.get(store, "mood") == made
    await campaign.create(other, "ann", fields(targeting="mood = 'good'"))
    [change] = await changes_of(store, "attribute")
    assert (change.object_id, change.content()) == ("mood", {"name": "mood", "type": "string"})
    assert (await log.read_head(store)).catalogue_rev == made.rev


async def test_one_that_another_worker_removed_cannot_be_used(store: Store, fields: Fields) -> None:
    other = Store(store.database)
    await other.catalogue()
    await attribute.delete(store, "ann", "age")
    with pytest.raises(InvalidFields, match="age"):
        await campaign.create(other, "ann", fields(targeting="age > 1"))


async def test_a_catalogue_of_another_history_is_not_trusted(store: Store, fields: Fields) -> None:
    """A restored database can have reached the same rev of the same epoch in another way."""
    await attribute.create(store, "ann", {"name": "mood", "type": "string"})
    other = Store(store.database)
    await other.catalogue()
    async with store.database.write() as connection:
        await connection.exec_driver_sql("UPDATE attributes SET type = 'int' WHERE name = 'mood'")
        await connection.exec_driver_sql("UPDATE changes SET nonce = 'another'")
    with pytest.raises(InvalidFields, match="mood"):
        await campaign.create(other, "ann", fields(targeting="mood = 'good'"))
    await campaign.create(other, "ann", fields(targeting="mood = 1"))


async def test_one_in_use_keeps_its_type_and_stays(store: Store, fields: Fields) -> None:
    users = [(await campaign.create(store, "ann", fields(targeting="age > 1"))).id]
    users.append((await campaign.create(store, "ann", fields(targeting="age is null"))).id)
    await campaign.create(store, "ann", fields(targeting="country = 'age'"))
    with pytest.raises(AttributeInUse) as refused:
        await attribute.delete(store, "ann", "age")
    assert (refused.value.campaign_ids, refused.value.total) == (tuple(users), 2)
    with pytest.raises(AttributeInUse, match="1 campaign uses the attribute age in a way") as unfit:
        await attribute.patch(store, "ann", "age", {"type": "string"})
    assert unfit.value.campaign_ids == (users[0],)
    patched = await attribute.patch(store, "ann", "age", {"description": "x", "type": "int"}, 1)
    assert (patched.version, patched.description) == (2, "x")


async def test_names_differ_by_case_and_as_a_whole(store: Store, fields: Fields) -> None:
    for name in ("Mood", "mood", "mood.x", "moo_"):
        await attribute.create(store, "ann", {"name": name, "type": "int"})
    await campaign.create(store, "ann", fields(targeting="mood = 1"))
    for name in ("Mood", "mood.x", "moo_"):
        await attribute.delete(store, "ann", name)


async def test_the_list_of_users_is_capped(
    store: Store, fields: Fields, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attribute, "SHOWN", 2)
    users = [(await campaign.create(store, "ann", fields(targeting="age > 1"))).id for _ in "abc"]
    with pytest.raises(AttributeInUse) as refused:
        await attribute.delete(store, "ann", "age")
    assert (refused.value.campaign_ids, refused.value.total) == (tuple(users[:2]), 3)


async def test_an_archived_campaign_holds_no_attribute(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(targeting="age > 1"))
    await campaign.archive(store, "ann", made.id)
    rev = await attribute.delete(store, "ann", "age")
    [change] = await changes_of(store, "attribute")
    assert (change.rev, change.removed) == (rev, True)
    with pytest.raises(InvalidFields, match="age"):
        await campaign.create(store, "ann", fields(targeting="age > 1"))


async def test_an_unused_one_can_change_its_type(store: Store, fields: Fields) -> None:
    await attribute.patch(store, "ann", "age", {"type": "string"}, 1)
    await campaign.create(store, "ann", fields(targeting="age = 'old'"))


async def test_one_in_use_changes_its_type_if_every_campaign_allows_it(
    store: Store, fields: Fields
) -> None:
    await attribute.create(store, "ann", {"name": "app.version", "type": "string"})
    await campaign.create(store, "ann", fields(targeting="app.version >= '14.2'"))
    text = await campaign.create(store, "ann", fields(targeting="app.version starts with '17.'"))
    with pytest.raises(AttributeInUse) as refused:
        await attribute.patch(store, "ann", "app.version", {"type": "version"})
    assert refused.value.campaign_ids == (text.id,)
    await campaign.archive(store, "ann", text.id)
    changed = await attribute.patch(store, "ann", "app.version", {"type": "version"})
    assert changed.type == "version"
    with pytest.raises(InvalidFields, match="version"):
        await campaign.create(store, "ann", fields(targeting="app.version starts with '17.'"))


async def test_what_changes_nothing_is_not_written(store: Store) -> None:
    before = await attribute.get(store, "age")
    assert await attribute.patch(store, "ann", "age", {"type": "int"}, 1) == before
    assert (await log.read_head(store)).rev == 0


async def test_refusals(store: Store) -> None:
    with pytest.raises(Taken):
        await attribute.create(store, "ann", {"name": "age", "type": "int"})
    with pytest.raises(VersionConflict):
        await attribute.delete(store, "ann", "age", 7)
    for name in ("no.such", "a\0b", ""):
        with pytest.raises(NotFound):
            await attribute.delete(store, "ann", name)
    with pytest.raises(InvalidFields) as refused:
        await attribute.create(store, "ann", {"name": "not", "type": "text"})
    assert {(p.pointer, p.code) for p in refused.value.problems} == {
        ("/name", "attribute.keyword"),
        ("/type", "attribute.type"),
    }
    assert (await log.read_head(store)).rev == 0


@pytest.mark.parametrize("name", ["now.hour", "now.weekday", "request.blocked_categories"])
async def test_built_ins_are_always_there_and_never_written(store: Store, name: str) -> None:
    assert (await attribute.get(store, name)).built_in
    with pytest.raises(BuiltIn):
        await attribute.create(store, "ann", {"name": name, "type": "int"})
    with pytest.raises(BuiltIn):
        await attribute.patch(store, "ann", name, {"description": "x"})
    with pytest.raises(BuiltIn):
        await attribute.delete(store, "ann", name)


async def test_a_catalogue_has_a_limit(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    most = sum(not record.built_in for record in await attribute.every(store)) + 1
    monkeypatch.setattr(attribute, "MAX_ATTRIBUTES", most)
    await attribute.create(store, "ann", {"name": "vip", "type": "bool"})
    with pytest.raises(CatalogueFull, match=f"has {most} attributes"):
        await attribute.create(store, "ann", {"name": "more", "type": "bool"})
    await attribute.delete(store, "ann", "vip")
    await attribute.create(store, "ann", {"name": "more", "type": "bool"})


async def test_the_values_of_an_attribute_are_declared_and_warned_about(
    store: Store, fields: Fields
) -> None:
    sent = {"name": "tier", "type": "string", "values": ["gold", "silver", "gold"]}
    made = await attribute.create(store, "ann", sent)
    assert made.values == made.usual_values == ("gold", "silver")
    other = Store(store.database)
    saved = await campaign.create(other, "ann", fields(targeting="tier = 'Gold'"))
    assert [each.replacement for each in saved.warnings] == ["'gold'"]
    assert await campaign.get(store, saved.id) == saved
    more = await attribute.patch(store, "ann", "tier", {"values": ["Gold"]}, made.version)
    assert (await attribute.get(store, "tier")).values == more.values == ("Gold",)
    saved = await campaign.create(other, "ann", fields(targeting="tier = 'Gold'"))
    assert saved.warnings == ()
    country = await attribute.get(store, "country")
    assert country.values is None
    assert "US" in (country.usual_values or ())
    anything = await attribute.patch(store, "ann", "country", {"values": []})
    assert (anything.values, anything.usual_values) == ((), None)
    saved = await campaign.create(other, "ann", fields(targeting="country = 'USA'"))
    assert saved.warnings == ()


async def test_only_text_has_a_list_of_values(store: Store) -> None:
    with pytest.raises(InvalidFields, match="an int has no list of values"):
        await attribute.create(store, "ann", {"name": "n", "type": "int", "values": ["1"]})
    with pytest.raises(InvalidFields, match="a bool has no list of values"):
        await attribute.patch(store, "ann", "privacy.gdpr", {"values": ["1"]})
    await attribute.create(store, "ann", {"name": "t", "type": "string", "values": ["1"]})
    with pytest.raises(InvalidFields, match="has no list of values"):
        await attribute.patch(store, "ann", "t", {"type": "int"})
    await attribute.patch(store, "ann", "t", {"type": "int", "values": None})


async def test_warnings_follow_the_active_statistics(store: Store, fields: Fields) -> None:
    text = fields(targeting="geo.city = 'Atlantis'")
    assert (await campaign.create(store, "ann", text)).warnings == ()
    document, sample = statistics([request(geo_city="Berlin")] * 10)
    version = await statistics_service.keep(store, "nightly", document, sample)
    await statistics_service.activate(store, "nightly", version.id, force=True)
    [warning] = (await campaign.create(store, "ann", text)).warnings
    assert warning.code == "unseen_value"
    assert "2026-11-16" in warning.message
    await statistics_service.roll_back(store, "nightly")
    assert (await campaign.create(store, "ann", text)).warnings == ()
