"""Campaigns that call operators: matched, degraded, explained, counted."""

import re
from importlib.metadata import EntryPoint, EntryPoints

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from app.operators import operator
from app.operators.http_client import HttpClient
from app.settings import Settings
from tests.app.answers import ok
from tests.app.operators.conftest import campaign, matched, register

SAFE, UNSAFE = "https://news.example/today", "https://casino.example/"
TARGETING = "call brand_safety(site.page) >= 0.8"
ANY = {"If-Match": "*"}


def event(page: str | None = SAFE, **more: object) -> dict[str, object]:
    return {"attributes": {"site.page": page, **more}}


def metric(client: TestClient, name: str) -> float:
    text = client.get("/metrics").text
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))


def test_a_service_decides(calling: TestClient, brand_safety: str) -> None:
    register(calling, brand_safety)
    asks = campaign(calling, TARGETING, priority=5)
    negated = campaign(calling, f"not ({TARGETING})")
    either = campaign(calling, f"country = 'US' or {TARGETING}")
    always = campaign(calling, "true")
    assert matched(ok(calling.post("/v1/match", json=event(SAFE)))) == [asks, either, always]
    assert matched(ok(calling.post("/v1/match", json=event(UNSAFE)))) == [negated, always]
    unknown = ok(calling.post("/v1/match", json=event(None, country="US")))
    assert matched(unknown) == [either, always]
    assert "degraded" not in unknown, "a missing argument is no failure"
    total = ok(calling.post("/v1/match", json=event(SAFE) | {"limit": 1, "total": True}))
    assert (matched(total), total["total"]) == ([asks], 3)
    batch = ok(calling.post("/v1/match/batch", json={"requests": [event(SAFE), event(UNSAFE)]}))
    assert [matched(each) for each in batch["responses"]] == [
        [asks, either, always],
        [negated, always],
    ]


def test_a_result_is_remembered_and_counted(calling: TestClient, brand_safety: str) -> None:
    register(calling, brand_safety)
    campaign(calling, TARGETING)
    for _ in range(3):
        ok(calling.post("/v1/match", json=event()))
    assert metric(calling, "copse_operator_calls_total") == 1
    assert metric(calling, "copse_operator_cache_hits_total") == 2
    assert metric(calling, "copse_operator_duration_seconds_count") == 1
    ok(calling.patch("/v1/operators/brand_safety", json={"cache_seconds": 0}, headers=ANY))
    campaign(calling, "true")
    for _ in range(2):
        ok(calling.post("/v1/match", json=event()))
    assert metric(calling, "copse_operator_calls_total") == 3


def test_a_bid_request_calls_as_well(calling: TestClient, brand_safety: str) -> None:
    register(calling, brand_safety)
    asks = campaign(calling, TARGETING)
    bid = {"id": "r", "imp": [{"id": "1", "banner": {}}], "site": {"page": SAFE}}
    answer = ok(calling.post("/v1/openrtb", json=bid))
    assert [each["campaign_id"] for each in answer["imps"][0]["matches"]] == [asks]
    explained = ok(calling.post("/v1/explain", json={"campaign_id": asks, "bid_request": bid}))
    assert (explained["matched"], explained["calls"][0]["result"]) == (True, 1.0)
    assert explained["ranks"][0]["rank"] == 1
    bid["site"] = {"page": UNSAFE}
    assert calling.post("/v1/openrtb", json=bid).status_code == 204


def test_a_deal_can_depend_on_a_call(calling: TestClient, brand_safety: str) -> None:
    register(calling, brand_safety)
    id = campaign(calling, f"imp.deals any of ('d1') and {TARGETING}")
    deals = [{"id": "d0"}, {"id": "d1"}]
    imp = {"id": "1", "banner": {}, "pmp": {"deals": deals}}
    bid = {"id": "r", "imp": [imp], "site": {"page": SAFE}}
    (match,) = ok(calling.post("/v1/openrtb", json=bid))["imps"][0]["matches"]
    assert (match["campaign_id"], match["deal_id"]) == (id, "d1")
    explained = ok(calling.post("/v1/explain", json={"campaign_id": id, "bid_request": bid}))
    assert [each["deal_id"] for each in explained["offers"] if each["matched"]] == ["d1"]


def test_explain_says_what_each_call_answered(calling: TestClient, brand_safety: str) -> None:
    register(calling, brand_safety)
    id = campaign(calling, TARGETING)
    name = "call brand_safety(site.page)"
    asked = {"campaign_id": id, "attributes": {"site.page": UNSAFE}}
    explained = ok(calling.post("/v1/explain", json=asked))
    (call,) = explained["calls"]
    assert (call["call"], call["failure"]) == (name, None)
    assert call["result"] == pytest.approx(0.1)
    assert explained["matched"] is False
    assert explained["tree"]["got"] == pytest.approx(0.1)
    missing = ok(calling.post("/v1/explain", json={"campaign_id": id, "attributes": {}}))
    assert missing["calls"] == [{"call": name, "result": None, "failure": "argument"}]
    asked["attributes"] = {"site.page": SAFE}
    assert ok(calling.post("/v1/explain", json=asked))["matched"] is True


@pytest.mark.parametrize(
    ("url", "allowed", "is_called"),
    [
        ("http://models.example/", "models.example", True),
        ("http://models.example:8080/", "models.example", True),
        ("http://models.example:8080/", "models.example:8080", True),
        ("http://models.example/", "models.example:80", True),
        ("https://models.example/", "models.example:80", False),
        ("http://models.example:8081/", "models.example:8080", False),
        ("http://models.example.evil.example/", "models.example", False),
        ("http://[2001:db8::1]:8080/", "[2001:db8::1]:8080", True),
        ("http://[2001:db8::1]:8080/", "2001:db8::1", True),
        ("http://[2001:db8::1]:8081/", "[2001:db8::1]:8080", False),
        ("http://models.example/", "", False),
    ],
)
def test_a_host_is_allowed_with_all_its_ports_or_one(
    url: str, allowed: str, is_called: bool
) -> None:
    hosts = Settings(operator_hosts=allowed).operator_host_names
    assert HttpClient(url).is_at(hosts) is is_called


def test_urls_are_no_hosts() -> None:
    with pytest.raises(ValidationError, match="name hosts, not URLs"):
        Settings(operator_hosts="http://models.example")


def test_no_host_is_called_that_is_not_allowed(client: TestClient, brand_safety: str) -> None:
    register(client, brand_safety)
    asks, always = campaign(client, TARGETING), campaign(client, "true")
    answer = ok(client.post("/v1/match", json=event()))
    assert (matched(answer), answer["degraded"]) == ([always], True)
    explained = ok(
        client.post("/v1/explain", json={"campaign_id": asks, "attributes": {"site.page": SAFE}})
    )
    assert explained["calls"][0]["failure"] == "host"
    assert metric(client, "copse_degraded_total") == 1


def length(text: str) -> int:
    """An operator in Python."""
    if text == "fail":
        raise RuntimeError
    return len(text)


def test_an_entry_point_decides(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    found = EntryPoints([EntryPoint("length", f"{__name__}:length", operator.GROUP)])
    monkeypatch.setattr(operator, "entry_points", lambda **wanted: found.select(**wanted))
    body = {"name": "length", "type": "python", "arguments": ["string"], "result": "int"}
    ok(client.post("/v1/operators", json=body | {"entry_point": "length"}), 201)
    body |= {"name": "gone", "entry_point": "gone"}
    ok(client.post("/v1/operators", json=body), 201)
    short = campaign(client, "call length(site.page) < 10")
    campaign(client, "call gone(site.page) < 10")
    answer = ok(client.post("/v1/match", json=event("short")))
    assert (matched(answer), answer["degraded"]) == ([short], True)
    assert matched(ok(client.post("/v1/match", json=event("a longer one")))) == []
    assert matched(ok(client.post("/v1/match", json=event("fail")))) == []
    assert metric(client, 'copse_operator_failures_total{operator="length",reason="error".*}') == 1
