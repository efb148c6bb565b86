"""Answers of every route are counted, by names that no client can choose."""

import sqlite3
from collections import Counter
from contextlib import closing

from fastapi.testclient import TestClient

from tests.app.answers import create_campaign, ok
from tests.app.observability.metrics.test_text import parsed

CANARY = "CANARY"


def counted(client: TestClient) -> Counter[tuple[str, str]]:
    """The answers so far by route and status."""
    text = client.get("/metrics").content
    assert CANARY.encode() not in text
    return Counter(
        {
            (dict(labels)["route"], dict(labels)["status"]): int(number)
            for (name, labels), number in parsed(text).items()
            if name == "copse_requests_total"
        }
    )


def test_answers_are_counted_by_route_and_status(client: TestClient, advertiser_id: int) -> None:
    before = counted(client)
    for _ in range(2):
        id = create_campaign(client, advertiser_id)["id"]
        ok(client.get(f"/v1/campaigns/{id}"))
    assert client.get("/v1/campaigns/999").status_code == 404
    assert client.post("/v1/campaigns", json={}).status_code == 422
    assert client.get("/v1/match").status_code == 405
    ok(client.post("/v1/match", json={"attributes": {}}))
    assert client.get(f"/v1/{CANARY}").status_code == 404
    stranger = {"Authorization": "Bearer none"}
    assert client.get(f"/v1/campaigns/{CANARY}", headers=stranger).status_code == 401
    assert counted(client) - before == {
        ("create_campaign", "201"): 2,
        ("create_campaign", "422"): 1,
        ("read_campaign", "200"): 2,
        ("read_campaign", "404"): 1,
        ("match", "200"): 1,
        ("match", "405"): 1,
        ("none", "404"): 1,
        ("none", "401"): 1,
        ("metrics", "200"): 1,
    }


def test_an_unexpected_error_is_counted(client: TestClient, url: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
        database.execute("UPDATE audit_log SET after = 'not JSON'")
    assert client.get("/v1/audit").status_code == 500
    assert [each for each in counted(client) if each[1] == "500"] == [("list_audit_entries", "500")]
