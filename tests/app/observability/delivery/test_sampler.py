"""The sampler in a running service: what it counts, what it keeps, what it costs."""

import asyncio
import math
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from app.api.delivery import EXAMPLE, Delivery, SampledRequests, Summaries
from app.observability.delivery.sample import SampledRequest
from app.observability.delivery.sampler import DeliverySampler
from app.settings import Settings
from campaigns.keys import model
from campaigns.store import Store
from index import Query
from testkit.in_process import FixedReplica, view_of
from testkit.workloads import make
from tests.app.answers import activate, codes, eventually, ok
from tests.app.conftest import POLL_SECONDS, client_of


@pytest.fixture
def settings(url: str) -> Settings:
    return Settings(
        database_url=url, feed_poll_seconds=POLL_SECONDS, delivery_share=1, delivery_seconds=0.1
    )


@pytest.fixture
def client(settings: Settings, tokens: dict[str, str]) -> Iterator[TestClient]:
    with client_of(settings, tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        yield client


def match(client: TestClient, **sent: Any) -> Any:
    body = {"attributes": {"country": "US"}} | sent
    answer = client.post("/v1/match", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["matches"]


def delivery(client: TestClient, id: int) -> Any:
    return ok(client.get(f"/v1/campaigns/{id}/delivery"))


def sampled_until(client: TestClient, id: int, **sent: Any) -> Any:
    """Match until the campaign was considered in some requests."""

    def considered() -> bool:
        match(client, **sent)
        return bool(delivery(client, id)["considered"] >= 3)

    eventually(considered)
    return delivery(client, id)


def test_what_a_campaign_gets_and_misses_is_counted_and_survives_a_restart(
    settings: Settings, tokens: dict[str, str], client: TestClient
) -> None:
    best, _ = activate(client, targeting="country = 'US'", priority=9)
    owner = ok(client.get(f"/v1/campaigns/{best}"))["advertiser_id"]
    second, _ = activate(client, owner, targeting="country = 'US'", priority=1)
    other, rev = activate(client, owner, targeting="country = 'DE' and age > 3")
    match(client, min_rev=rev, log=False)
    told = sampled_until(client, other, limit=1)
    Delivery.model_validate(told)
    assert set(told) == set(EXAMPLE)
    assert (told["state"]["code"], told["matched"], told["answered"]) == ("unmatched", 0, 0)
    (why,) = told["reasons"]
    assert (why["code"], why["predicate"]) == ("targeting", "country = 'DE'")
    assert told["counted"]
    first, under = delivery(client, best), delivery(client, second)
    assert first["state"]["code"] == "live"
    assert first["answered"] == first["matched"] == first["considered"]
    assert under["state"]["code"] == "outranked"
    assert (under["answered"], under["matched"]) == (0, under["considered"])
    assert under["outranked"] > 0

    listed = ok(client.get("/v1/delivery", params={"campaign_id": [best, other, 99]}))
    Summaries.model_validate(listed)
    assert [each["campaign_id"] for each in listed["items"]] == [best, other]
    assert listed["items"][0]["day"]["answered"] >= first["answered"]

    requests = ok(client.get("/v1/requests", params={"limit": 2}))
    SampledRequests.model_validate(requests)
    assert [each["attributes"] for each in requests["items"]] == [{"country": "US"}] * 2

    before = delivery(client, best)["considered"]
    with client_of(settings, tokens["all"]) as again:
        eventually(lambda: again.get("/healthz/ready").status_code == 200)
        assert delivery(again, best)["considered"] >= before
        sampled_until(again, best)
        eventually(lambda: delivery(again, best)["considered"] > before)


def test_a_dry_run_shows_what_a_change_gains_and_loses(client: TestClient) -> None:
    id, rev = activate(client, targeting="country = 'US' and age < 30")
    match(client, min_rev=rev)
    sampled_until(client, id, attributes={"country": "US", "age": 40})
    here = f"/v1/campaigns/{id}/preview"
    kept = len(ok(client.get("/v1/requests", params={"limit": 200}))["items"])
    tried = ok(client.post(here, json={"targeting": "country = 'US'"}))["sampled"]
    assert tried["requests"] >= kept > 0
    assert (tried["before"], tried["lost"], tried["after"]) == (0, 0, tried["gained"])
    assert tried["gained"] >= tried["requests"] - 1  # the first match had no age
    assert tried["gained_requests"][0]["attributes"]["country"] == "US"
    assert len(tried["gained_requests"]) <= 5
    same = ok(client.post(here, json={}))["sampled"]
    assert (same["gained"], same["lost"]) == (0, 0)


def test_what_must_not_be_logged_is_neither_counted_nor_kept(client: TestClient) -> None:
    _, rev = activate(client)
    match(client, min_rev=rev, log=False)
    for _ in range(20):
        match(client, log=False, attributes={"country": "FR"})
        time.sleep(0.02)
    assert ok(client.get("/v1/requests"))["items"] == []
    match(client, attributes={"country": "US", "ip": "192.0.2.7", "colour": "red"})
    eventually(lambda: ok(client.get("/v1/requests"))["items"] != [])
    (kept,) = ok(client.get("/v1/requests"))["items"]
    assert kept["attributes"] == {"country": "US"}


def test_it_can_be_turned_off(url: str, tokens: dict[str, str]) -> None:
    settings = Settings(database_url=url, delivery_share=0, delivery_seconds=0.05)
    with client_of(settings, tokens["all"]) as client:
        id, rev = activate(client)
        for _ in range(20):
            match(client, min_rev=rev)
        time.sleep(0.3)
        assert not delivery(client, id)["counted"]
        assert ok(client.get("/v1/requests"))["items"] == []


def test_a_bid_request_is_counted_too(client: TestClient) -> None:
    id, rev = activate(client, targeting="country = 'US'", bid_micros=5)
    match(client, min_rev=rev, log=False)
    bid = {
        "id": "1",
        "imp": [{"id": "1", "bidfloor": 1.0, "banner": {"w": 300, "h": 250}}],
        "device": {"geo": {"country": "USA"}},
    }

    def considered() -> bool:
        assert client.post("/v1/openrtb", json=bid).status_code in (200, 204)
        return bool(delivery(client, id)["explained"])

    eventually(considered)
    (why,) = delivery(client, id)["reasons"]
    assert why["code"] == "floor"


async def test_a_sampled_request_leaves_the_event_loop_to_matches() -> None:
    feed: Any = FixedReplica(view_of(1000, model.token_of(*model.make())))
    sampler = DeliverySampler(cast(Store, None), feed, 1, 1000, 60, lambda name: True)
    running = asyncio.create_task(sampler.run())
    (attributes,) = make("ads").events(1)
    began = time.perf_counter()
    sampler.offer(SampledRequest(attributes, Query(limit=10), []), time.time(), "match", {})
    while sampler.due == math.inf:
        await asyncio.sleep(0.001)
    took = time.perf_counter() - began
    running.cancel()
    assert 0 < sampler.cpu_seconds < 0.25 * took


def test_the_parameters_are_checked(client: TestClient) -> None:
    assert codes(client.get("/v1/campaigns/99/delivery"), 404) == [("", "campaign.not_found")]
    for hours in (0, 1000):
        wrong = client.get("/v1/campaigns/1/delivery", params={"hours": hours})
        assert codes(wrong, 422)[0][0] == "/hours"
    assert ok(client.get("/v1/delivery")) == {"items": []}
    wrong = client.get("/v1/delivery", params={"campaign_id": "x"})
    assert codes(wrong, 422)[0][0] == "/campaign_id/0"


def test_it_takes_no_more_than_its_share(url: str, tokens: dict[str, str]) -> None:
    """Hundreds of campaigns and as many requests as this client can send."""
    settings = Settings(database_url=url, delivery_share=0.01, delivery_seconds=0.5)
    with client_of(settings, tokens["all"]) as client:
        owner = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)["id"]
        lines = "".join(
            f'{{"advertiser_id":{owner},"name":"{n}","status":"active",'
            f"\"targeting\":\"country = 'US' and age > {n % 90} and device.type = 'phone'\"}}\n"
            for n in range(500)
        )
        ndjson = {"content-type": "application/x-ndjson"}
        assert client.post("/v1/campaigns/import", content=lines, headers=ndjson).is_success
        eventually(lambda: ok(client.get("/v1/index"))["workers"][0]["campaigns"] == 500)
        sampler = client.app_state["recorder"].delivery
        began, used = time.monotonic(), sampler.cpu_seconds
        while time.monotonic() < began + 2:
            match(client, attributes={"country": "US", "age": 30, "device.type": "tv"})
        spent = sampler.cpu_seconds - used
        longest = 0.02  # of one sampled request, which is begun before its cost is known
        assert 0 < spent <= 0.01 * (time.monotonic() - began) + longest
