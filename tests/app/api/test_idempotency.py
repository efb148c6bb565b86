"""`Idempotency-Key` on everything that creates."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.app.answers import codes, ok
from tests.app.conftest import bearer

BODIES: dict[str, dict[str, object]] = {
    "/v1/advertisers": {"name": "Shop"},
    "/v1/attributes": {"name": "page.viewability", "type": "float"},
    "/v1/campaigns": {"name": "Spring", "advertiser_id": 1},
}


def post(client: TestClient, route: str, body: Any, key: str = "k", **headers: str) -> Any:
    return client.post(route, json=body, headers={"Idempotency-Key": key, **headers})


@pytest.mark.parametrize("route", BODIES)
def test_a_repeated_request_is_done_once(
    client: TestClient, advertiser_id: int, route: str
) -> None:
    first = post(client, route, BODIES[route])
    again = post(client, route, dict(reversed(BODIES[route].items())))
    assert (ok(first, 201), "idempotent-replayed" in first.headers) == (ok(again, 201), False)
    assert again.headers["idempotent-replayed"] == "true"
    for name in ("etag", "location", "content-type"):
        assert again.headers[name] == first.headers[name]
    entries = ok(
        client.get("/v1/audit", params={"object_id": first.headers["location"].split("/")[-1]})
    )
    assert len([e for e in entries["items"] if e["kind"] in route and e["action"] == "create"]) == 1


def test_the_same_key_with_another_request_is_refused(client: TestClient) -> None:
    post(client, "/v1/advertisers", {"name": "Shop"})
    reused = [("/idempotency-key", "idempotency.reused")]
    assert codes(post(client, "/v1/advertisers", {"name": "Other"}), 422) == reused
    assert codes(post(client, "/v1/attributes", {"name": "Shop"}), 422) == reused


def test_a_key_belongs_to_the_api_key(client: TestClient, tokens: dict[str, str]) -> None:
    mine = ok(post(client, "/v1/advertisers", {"name": "Shop"}), 201)
    theirs = post(client, "/v1/advertisers", {"name": "Other"}, **bearer(tokens["campaigns:write"]))
    assert ok(theirs, 201)["id"] != mine["id"]


def test_requests_at_the_same_time_get_one_answer(client: TestClient) -> None:
    body = {"name": "page.viewability", "type": "float"}  # the name of an attribute is unique
    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(lambda _: post(client, "/v1/attributes", body), range(8))]
    assert len({ok(answer, 201)["rev"] for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1


def test_a_refused_request_leaves_the_key_free(client: TestClient) -> None:
    assert codes(post(client, "/v1/advertisers", {}), 422) == [("/name", "field.missing")]
    assert ok(post(client, "/v1/advertisers", {"name": "Shop"}), 201)


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_that_is_none_is_refused(client: TestClient, key: str) -> None:
    answer = post(client, "/v1/advertisers", {"name": "Shop"}, key=key)
    assert codes(answer, 422) == [("/idempotency-key", "idempotency.key")]
