"""A dry run says what would be, and writes nothing."""

import pytest

from campaigns.campaign import service as campaign
from campaigns.campaign.preview import preview_change, preview_new
from campaigns.errors import Final, InvalidFields, NotFound
from campaigns.log import service as log
from campaigns.store import Store
from tests.campaigns.conftest import Fields


async def test_a_new_campaign(store: Store, fields: Fields) -> None:
    same = await campaign.create(store, "ann", fields(targeting="age >= 18 and country = 'US'"))
    preview = await preview_new(
        store, fields(targeting="not (age < 18) and country in ('US')", bid_micros=5)
    )
    assert preview.understanding.text == "age >= 18 and country = 'US'"
    assert preview.understanding.predicates == 2
    assert preview.understanding.targeting.attribute_names == ("age", "country")
    assert preview.same_targeting == (same.id,)
    assert [warning.code for warning in preview.warnings] == ["same_targeting"]
    assert preview.understanding.cost.literals == 2
    assert len(preview.understanding.cost.access) == 1
    assert (preview.campaign["bid_micros"], preview.campaign["id"]) == (5, None)
    assert (await log.read_head(store)).rev == same.rev


@pytest.mark.parametrize(
    ("text", "code", "way"),
    [
        ("age = 1 and age = 2", "never_true", "never"),
        ("age is null or age is not null", "always_true", "always"),
    ],
)
async def test_suspicious_targeting(
    store: Store, fields: Fields, text: str, code: str, way: str
) -> None:
    preview = await preview_new(store, fields(targeting=text))
    assert [warning.code for warning in preview.warnings] == [code]
    assert preview.understanding.cost.way == way


async def test_a_change(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(targeting="age > 3"))
    preview = await preview_change(store, made.id, {"targeting": "age > 4", "name": "Spring"})
    assert preview.changes == ("targeting",)
    assert preview.same_targeting == ()
    assert (await campaign.get(store, made.id)) == made
    unchanged = await preview_change(store, made.id, {})
    assert (unchanged.changes, unchanged.understanding.text) == ((), "age >= 4")


async def test_refusals(store: Store, fields: Fields) -> None:
    made = await campaign.create(store, "ann", fields(ends_at="2026-11-20T00:00:00Z"))
    wrong: tuple[dict[str, object], ...] = (
        {"targeting": "age > 'x'", "priority": -1},
        {"starts_at": "2027-01-01T00:00:00Z"},
        {"advertiser_id": 999},
        {"targeting": 7},
    )
    for changed in wrong:
        with pytest.raises(InvalidFields):
            await preview_change(store, made.id, changed)
        with pytest.raises(InvalidFields):
            await preview_new(store, fields(**({"ends_at": made.to_dict()["ends_at"]} | changed)))
    with pytest.raises(NotFound):
        await preview_change(store, 999, {})
    await campaign.archive(store, "ann", made.id)
    with pytest.raises(Final):
        await preview_change(store, made.id, {"name": "x"})
