"""`/v1/index`."""

from fastapi.testclient import TestClient

from app.api.index import WORKER, IndexReport
from campaigns.log import service as log
from index import digest_of
from tests.app.answers import activate, eventually, ok
from tests.app.conftest import on_store

ROUTE = "/v1/index"


def test_it_tells_of_every_worker(client: TestClient) -> None:
    found = ok(client.get(ROUTE))
    IndexReport.model_validate(found)
    (worker,) = found["workers"]
    assert list(worker) == list(WORKER)
    assert worker["epoch"]
    assert worker["lag_revs"] == 0
    assert worker["poisoned"] == []
    assert worker["own_plans"]["replans"] == 0
    if worker["engine"] == "native":
        assert sum(worker["memory_parts"].values()) == worker["memory_bytes"]
        assert worker["resident_bytes"] > worker["huge_page_bytes"] >= 0
    assert worker["memory_bytes"] > 0 or worker["engine"] != "native"


def test_the_digest_is_that_of_the_database_at_the_same_rev(
    client: TestClient, url: str, advertiser_id: int
) -> None:
    for n in range(3):
        _, rev = activate(client, advertiser_id, targeting=f"age > {n}")
    eventually(lambda: client.get(ROUTE).json()["workers"][0]["rev"] == rev)
    (worker,) = ok(client.get(ROUTE))["workers"]
    found = on_store(url, lambda store: log.digest(store, digest_of))
    assert (found.epoch, found.rev, found.count) == (worker["epoch"], worker["rev"], 3)
    assert worker["digest"] == f"{found.digest:016x}"
