"""`/v1/statistics`: versions, which steers, activate, roll back; and where one sees it."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.statistics import VERSION, StatisticsPage, StatisticsWithDocument
from campaigns.statistics import service
from campaigns.statistics.gates import Finding
from tests.app.answers import codes, eventually, ok, problem
from tests.app.conftest import on_store
from tests.campaigns.statistics.traffic import request, statistics

ROUTE = "/v1/statistics"
ROWS = [request(country="US"), request(country="US"), request(country="DE"), request(age=30)]
GOOD = [Finding("rows", True, "4 rows, of at least 1", value=4, limit=1)]
BAD = [*GOOD, Finding("drift", False, "age has drifted", "age", 0.4, 0.25)]


def keep(url: str, rows: int, findings: list[Finding] = GOOD, times: int = 1) -> int:
    """Another version, as the nightly job makes one. Of few rows, chance explains everything."""

    async def work(store: Any) -> int:
        version = await service.keep(store, "nightly", *statistics(ROWS[:rows] * times))
        await service.mark(store, "nightly", version.id, findings)
        return version.id

    return on_store(url, work)


def used(client: TestClient) -> Any:
    return ok(client.get("/v1/index"))["workers"][0]["statistics"]


def test_versions_are_listed_with_what_changed(client: TestClient, url: str) -> None:
    assert ok(client.get(ROUTE)) == {"items": [], "next_cursor": None, "active_id": None}
    first, second = keep(url, 2), keep(url, 4)
    page = ok(client.get(ROUTE))
    StatisticsPage.model_validate(page)
    assert [list(item) for item in page["items"]] == [list(VERSION)] * 2
    newest, oldest = page["items"]
    assert (newest["id"], oldest["id"]) == (second, first)
    assert newest["drift"]["against"] == first
    assert newest["drift"]["attributes"]["country"]["presence_after"] == 0.75
    assert oldest["drift"] is None
    assert [page["active_id"], newest["active"], newest["gates"]] == [None, False, "passed"]
    assert newest["findings"] == [finding.to_dict() for finding in GOOD]
    part = ok(client.get(ROUTE, params={"limit": 1}))
    rest = ok(client.get(ROUTE, params={"limit": 1, "cursor": part["next_cursor"]}))
    assert [item["id"] for item in part["items"] + rest["items"]] == [second, first]


def test_a_version_is_read_with_its_document(client: TestClient, url: str) -> None:
    id = keep(url, 4)
    found = ok(client.get(f"{ROUTE}/{id}"))
    StatisticsWithDocument.model_validate(found)
    assert found["document"] == statistics(ROWS)[0]
    assert codes(client.get(f"{ROUTE}/99"), 404) == [("", "statistics.not_found")]


def test_activate_and_roll_back_steer_the_index(client: TestClient, url: str) -> None:
    first, second = keep(url, 2), keep(url, 4)
    assert used(client) is None
    assert "copse_statistics_age_seconds" not in client.get("/metrics").text
    ok(client.post(f"{ROUTE}/{first}/activate"))
    activated = ok(client.post(f"{ROUTE}/{second}/activate", json={}))
    assert (activated["active"], activated["previous_id"]) == (True, first)
    assert ok(client.get(ROUTE))["active_id"] == second
    eventually(lambda: (used(client) or {}).get("id") == second)
    told = used(client)
    assert (told["wanted_id"], told["checksum"]) == (second, activated["checksum"])
    assert told["window_to"] == "2026-11-16T23:59:59Z"
    metrics = client.get("/metrics").text
    [age] = [
        float(line.split()[-1])
        for line in metrics.splitlines()
        if line.startswith("copse_statistics_age_seconds{")
    ]
    assert age == pytest.approx(told["age_seconds"], abs=60)

    back = ok(client.post(f"{ROUTE}/roll-back"))
    assert (back["active"]["id"], back["rev"]) == (first, activated["rev"] + 1)
    eventually(lambda: used(client)["id"] == first)
    assert ok(client.post(f"{ROUTE}/roll-back"))["active"] is None
    eventually(lambda: used(client) is None)
    assert "copse_statistics_age_seconds" not in client.get("/metrics").text
    assert codes(client.post(f"{ROUTE}/roll-back"), 409) == [("", "statistics.none_active")]


def test_what_a_gate_refused_needs_force_and_that_is_audited(client: TestClient, url: str) -> None:
    id = keep(url, 4, BAD)
    refused = client.post(f"{ROUTE}/{id}/activate")
    assert codes(refused, 409) == [("", "gate.drift")]
    assert problem(refused, 409)["findings"] == [BAD[1].to_dict()]
    assert codes(client.post(f"{ROUTE}/{id}/activate", json={"force": False}), 409)
    assert codes(client.post(f"{ROUTE}/{id}/activate", json={"forse": True}), 422)[0][0] == "/forse"
    assert ok(client.post(f"{ROUTE}/{id}/activate", json={"force": True}))["active"]
    [entry, *_] = ok(client.get("/v1/audit", params={"kind": "statistics"}))["items"]
    assert (entry["action"], entry["object_id"]) == ("force_activate", str(id))
    assert entry["actor"].startswith("key")
    assert [entry["before"]["active"], entry["after"]["active"]] == [False, True]


def test_a_key_may_read_or_activate_by_its_scopes(
    client: TestClient, url: str, tokens: dict[str, str]
) -> None:
    id = keep(url, 4)
    for scope, statuses in {
        "campaigns:read": [200, 403],
        "campaigns:write": [403, 403],
        "stats:write": [403, 200],
        "match": [403, 403],
    }.items():
        headers = {"Authorization": f"Bearer {tokens[scope]}"}
        asked = [
            client.get(f"{ROUTE}/{id}", headers=headers),
            client.post(f"{ROUTE}/{id}/activate", headers=headers),
        ]
        assert [answer.status_code for answer in asked] == statuses, scope
