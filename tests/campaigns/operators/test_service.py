"""The registry on both databases: written, loaded into a view, and kept beside an index file."""

from pathlib import Path

import pytest

from campaigns.campaign import service as campaigns
from campaigns.catalogue.privacy import not_logged
from campaigns.errors import InvalidFields, OperatorInUse, VersionConflict
from campaigns.feed.index_file import IndexFile
from campaigns.feed.load import load
from campaigns.feed.service import open_source
from campaigns.operators import service
from campaigns.store import Store
from index import Limits, Query, parse
from tests.campaigns.conftest import Fields

NEW = {
    "name": "safe",
    "type": "http",
    "url": "https://safety.example/score",
    "arguments": ["string", "int"],
    "result": "bool",
}
TARGETING = "call safe(site.page, age)"


async def test_an_operator_is_loaded_with_the_campaigns_that_call_it(
    store: Store, database_url: str, fields: Fields, tmp_path: Path
) -> None:
    made = await service.create(store, "test", NEW)
    campaign = await campaigns.create(store, "test", fields(targeting=TARGETING))
    await campaigns.activate(store, "test", campaign.id)
    source = open_source(database_url)
    kept = IndexFile(tmp_path / "kept")
    event = {"site.page": "a", "age": 3}
    try:
        fresh = await load(source, Limits())
        kept.save(fresh)
        continued = await load(source, Limits(), kept=kept)
    finally:
        await source.close()
    for view in (fresh, continued):
        assert view.operators["safe"].signature == made.signature
        assert view.operators["safe"].url == made.url
        assert view.index.candidates(event, Query()).pending == [campaign.id]
        assert str(view.index.tree(campaign.id)) == TARGETING


async def test_an_operator_in_use_is_held(store: Store, fields: Fields) -> None:
    await service.create(store, "test", NEW)
    campaign = await campaigns.create(store, "test", fields(targeting=f"age = 1 or {TARGETING}"))
    with pytest.raises(OperatorInUse) as refused:
        await service.delete(store, "test", "safe", 1)
    assert refused.value.campaign_ids == (campaign.id,)
    with pytest.raises(OperatorInUse):
        await service.patch(store, "test", "safe", {"result": "int"})
    with pytest.raises(VersionConflict):
        await service.patch(store, "test", "safe", {"timeout_ms": 1}, 7)
    await campaigns.patch(store, "test", campaign.id, {"targeting": "age = 1"}, None)
    assert await service.delete(store, "test", "safe", 1) > campaign.rev
    with pytest.raises(InvalidFields):
        await campaigns.create(store, "test", fields(targeting=TARGETING))


async def test_results_of_calls_are_not_in_the_statistics(store: Store) -> None:
    await service.create(store, "test", NEW)
    tree = parse(f"age = 1 or {TARGETING}", (await store.catalogue()).schema)
    assert not_logged(tree) == [TARGETING]
