"""The import: repeatable, a result for each line, the good lines kept."""

import asyncio

from campaigns.campaign import service as campaign
from campaigns.campaign.imports import LineResult, import_batch
from campaigns.campaign.service import CampaignFilter
from campaigns.catalogue import service as attribute
from campaigns.errors import FieldProblem
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.conftest import Fields
from tests.campaigns.history import assert_dense, changes_of

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def outcomes(results: list[LineResult]) -> list[str]:
    return [result.outcome for result in results]


def lines(fields: Fields, count: int) -> list[dict[str, object]]:
    return [
        fields(
            external_id=f"c{i}",
            status="active",
            targeting=f"country = 'US' and age > {i}",
            categories=["IAB1"],
            starts_at="2026-11-20T00:00:00Z",
        )
        for i in range(count)
    ]


async def test_a_repeated_import_changes_nothing(store: Store, fields: Fields) -> None:
    batch = lines(fields, 50)
    first = await import_batch(store, "ann", batch)
    assert outcomes(first) == ["created"] * 50
    assert [result.rev for result in first] == list(range(2, 52))
    end = await log.read_head(store)
    again = await import_batch(store, "ann", batch)
    assert outcomes(again) == ["unchanged"] * 50
    assert [(r.id, r.version, r.rev) for r in again] == [(r.id, r.version, r.rev) for r in first]
    assert await log.read_head(store) == end
    batch[7]["bid_micros"] = 5
    batch[8]["targeting"] = "age > 99"
    assert outcomes(await import_batch(store, "ann", batch)).count("updated") == 2
    await assert_dense(store)


async def test_what_is_imported_is_what_is_created(store: Store, fields: Fields) -> None:
    """Rows that came by COPY and rows that came one by one are the same."""
    batch = lines(fields, 30)
    imported = await import_batch(store, "ann", batch)
    line = {name: value for name, value in batch[3].items() if name != "status"}
    single = await campaign.create(store, "ann", line | {"external_id": "single"})
    single = await campaign.activate(store, "ann", single.id)
    assert imported[3].id
    row = await campaign.get(store, imported[3].id)
    own = ("id", "external_id", "version", "rev", "created_at", "updated_at")
    one, other = row.to_dict(), single.to_dict()
    assert {k: one[k] for k in one if k not in own} == {k: other[k] for k in one if k not in own}
    assert (row.tree, row.fingerprint) == (single.tree, single.fingerprint)
    [first] = [c for c in await changes_of(store, "campaign") if c.object_id == str(row.id)]
    *_, last = await changes_of(store, "campaign")
    content, as_created = first.content(), last.content()
    assert content
    assert as_created
    assert content | {"id": 0, "version": 0} == as_created | {"id": 0, "version": 0}


async def test_the_good_lines_are_kept(store: Store, fields: Fields) -> None:
    results = await import_batch(
        store,
        "ann",
        [
            fields(external_id="a"),
            fields(external_id="b", targeting="contry = 'US'"),
            "not an object",
            FieldProblem("", "json.malformed", "not JSON"),
            fields(external_id="c", advertiser_id=999),
            {"external_id": "d"},
            fields(
                external_id="e", starts_at="2026-01-02T00:00:00Z", ends_at="2026-01-01T00:00:00Z"
            ),
            fields(external_id="f", status="lost"),
            fields(),
        ],
    )
    assert outcomes(results) == ["created", *["failed"] * 7, "created"]
    assert [[p.code for p in result.problems] for result in results[1:8]] == [
        ["attribute.unknown"],
        ["type.object"],
        ["json.malformed"],
        ["advertiser.unknown"],
        ["field.missing", "field.missing"],
        ["window.empty"],
        ["value.unknown"],
    ]
    assert results[1].problems[0].expression
    assert len((await campaign.page(store)).items) == 2


async def test_a_later_line_updates_an_earlier_one(store: Store, fields: Fields) -> None:
    results = await import_batch(
        store, "ann", [fields(external_id="a"), fields(external_id="a", name="Second")]
    )
    assert outcomes(results) == ["created", "updated"]
    assert results[0].id == results[1].id
    assert [item.name for item in (await campaign.page(store)).items] == ["Second"]


async def test_a_status_follows_the_transitions(store: Store, fields: Fields) -> None:
    def line(**more: object) -> dict[str, object]:
        return fields(external_id="a", **more)

    async def one(**more: object) -> LineResult:
        [result] = await import_batch(store, "ann", [line(**more)])
        return result

    assert (await one(status="active")).outcome == "created"
    assert [p.code for p in (await one(status="draft")).problems] == ["status.transition"]
    assert (await one(status="paused")).outcome == "updated"
    assert (await one(name="b")).outcome == "updated"
    assert (await one(status="archived")).outcome == "updated"
    assert [p.code for p in (await one(name="c")).problems] == ["campaign.final"]
    assert (await one(status="archived")).outcome == "unchanged"


async def test_two_imports_of_the_same_lines_at_once(store: Store, fields: Fields) -> None:
    batch = lines(fields, 30)
    both = await asyncio.gather(
        import_batch(store, "ann", batch), import_batch(store, "bob", batch[::-1])
    )
    assert sorted(outcomes(both[0] + both[1])) == ["created"] * 30 + ["unchanged"] * 30
    assert len((await campaign.page(store, CampaignFilter(), 1000)).items) == 30
    await assert_dense(store)


async def test_an_import_sees_an_attribute_that_was_just_added(
    store: Store, fields: Fields
) -> None:
    batch = [fields(external_id="a", targeting="mood = 'good'")]
    assert outcomes(await import_batch(store, "ann", batch)) == ["failed"]
    await attribute.create(Store(store.database), "bob", {"name": "mood", "type": "string"})
    assert outcomes(await import_batch(store, "ann", batch)) == ["created"]


async def test_an_empty_batch_is_nothing(store: Store) -> None:
    assert await import_batch(store, "ann", []) == []
