"""`/v1/operators`."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.operators import OPERATOR, OperatorList, StoredOperator
from tests.app.answers import codes, create_campaign, eventually, ok, problem

ROUTE = "/v1/operators"
ANY = {"If-Match": "*"}
NEW = {
    "name": "brand_safety",
    "type": "http",
    "url": "http://127.0.0.1:9/score",
    "arguments": ["string"],
    "result": "float",
}
TARGETING = "call brand_safety(site.domain) >= 0.8"


def test_an_operator_is_registered_with_its_defaults(client: TestClient) -> None:
    response = client.post(ROUTE, json=NEW)
    created = ok(response, 201)
    StoredOperator.model_validate(created)
    assert list(created) == list(OPERATOR)
    assert (created["timeout_ms"], created["budget_ms"], created["version"]) == (50, 100, 1)
    assert response.headers["location"] == f"{ROUTE}/brand_safety"
    assert ok(client.get(f"{ROUTE}/brand_safety")) == created
    listed = ok(client.get(ROUTE))
    OperatorList.model_validate(listed)
    assert listed["items"] == [created]
    assert codes(client.post(ROUTE, json=NEW), 409) == [("/name", "name.taken")]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"name": "and"}, ("/name", "operator.name")),
        ({"name": "a.b"}, ("/name", "operator.name")),
        ({"type": "grpc"}, ("/type", "value.unknown")),
        ({"url": "ftp://x/"}, ("/url", "operator.url")),
        ({"url": "http://me:secret@x/"}, ("/url", "operator.url")),
        ({"url": None}, ("/url", "operator.target")),
        ({"entry_point": "x"}, ("/entry_point", "operator.target")),
        ({"arguments": []}, ("/arguments", "list.length")),
        ({"arguments": ["string", "text"]}, ("/arguments/1", "attribute.type")),
        ({"arguments": "string"}, ("/arguments", "type.list")),
        ({"result": "int list"}, ("/result", "value.unknown")),
        ({"timeout_ms": 0}, ("/timeout_ms", "integer.range")),
    ],
)
def test_a_wrong_operator_is_refused(
    client: TestClient, sent: dict[str, Any], code: tuple[str, str]
) -> None:
    assert codes(client.post(ROUTE, json=NEW | sent), 422) == [code]


def test_a_campaign_calls_only_what_is_registered(client: TestClient, advertiser_id: int) -> None:
    campaign = {"advertiser_id": advertiser_id, "name": "c", "targeting": TARGETING}
    unknown = problem(client.post("/v1/campaigns", json=campaign), 422)
    assert unknown["errors"][0]["code"] == "operator.unknown"
    ok(client.post(ROUTE, json=NEW), 201)
    campaign["targeting"] = "call brand_safty(site.domain) >= 0.8"
    nearest = problem(client.post("/v1/campaigns", json=campaign), 422)
    assert nearest["errors"][0]["hint"] == "did you mean brand_safety?"
    assert create_campaign(client, advertiser_id, targeting=TARGETING)["targeting"] == TARGETING


def test_an_operator_in_use_keeps_its_signature(client: TestClient, advertiser_id: int) -> None:
    ok(client.post(ROUTE, json=NEW), 201)
    campaign = create_campaign(client, advertiser_id, targeting=TARGETING)
    here = f"{ROUTE}/brand_safety"
    for answer in (
        client.patch(here, json={"result": "int"}, headers=ANY),
        client.patch(here, json={"arguments": ["string", "int"]}, headers=ANY),
        client.delete(here, headers=ANY),
    ):
        in_use = problem(answer, 409)
        assert (in_use["campaign_ids"], in_use["total"]) == ([campaign["id"]], 1)
        assert in_use["errors"][0]["code"] == "operator.in_use"
    changed = ok(client.patch(here, json={"timeout_ms": 80}, headers={"If-Match": '"1"'}))
    assert (changed["timeout_ms"], changed["version"]) == (80, 2)
    # Its arguments are attributes that the campaign uses.
    used = problem(client.delete("/v1/attributes/site.domain", headers=ANY), 409)
    assert used["campaign_ids"] == [campaign["id"]]
    client.delete(f"/v1/campaigns/{campaign['id']}", headers=ANY)
    assert ok(client.delete(here, headers=ANY))["rev"] > changed["rev"]
    assert codes(client.get(here), 404) == [("", "operator.not_found")]


def test_writes_of_operators_are_audited_and_fed(client: TestClient) -> None:
    rev = ok(client.post(ROUTE, json=NEW), 201)["rev"]
    entries = ok(client.get("/v1/audit", params={"kind": "operator"}))["items"]
    assert [(each["action"], each["object_id"]) for each in entries] == [("create", "brand_safety")]
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["rev"] >= rev)
