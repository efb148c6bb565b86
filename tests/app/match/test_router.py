"""`/v1/match` and its batch, through the match router, on a real application."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from app.match import openrtb, single
from app.openrtb import ask
from app.settings import Settings
from index import Query
from tests.app.answers import activate, codes, eventually, ok
from tests.app.conftest import bearer, client_of


def match(client: TestClient, rev: int, **fields: Any) -> dict[str, Any]:
    """An answer that has this rev."""
    sent = {"attributes": {}, "min_rev": rev} | fields
    answer: dict[str, Any] = ok(client.post("/v1/match", json=sent))
    assert answer["rev"] >= rev
    return answer


def ids(answer: dict[str, Any]) -> list[int]:
    return [each["campaign_id"] for each in answer["matches"]]


def test_what_wants_the_request_is_answered_best_first(
    client: TestClient, advertiser_id: int
) -> None:
    here = "country = 'US'"
    low, _ = activate(client, advertiser_id, targeting=here, priority=1, bid_micros=900)
    high, _ = activate(client, advertiser_id, targeting=here, priority=5, bid_micros=100)
    rich, _ = activate(client, advertiser_id, targeting=here, priority=1, bid_micros=1000)
    _, rev = activate(client, advertiser_id, targeting="country = 'FR'", priority=9)
    answer = match(client, rev, attributes={"country": "US"}, total=True)
    assert answer["matches"] == [
        {"campaign_id": high, "priority": 5, "bid_micros": 100},
        {"campaign_id": rich, "priority": 1, "bid_micros": 1000},
        {"campaign_id": low, "priority": 1, "bid_micros": 900},
    ]
    assert answer["total"] == 3
    cut = match(client, rev, attributes={"country": "US"}, limit=1, total=True)
    assert (ids(cut), cut["total"]) == ([high], 3)
    cut = match(client, rev, attributes={"country": "US"}, limit=1)
    assert (ids(cut), "total" in cut) == ([high], False)


def test_what_is_excluded_paused_or_out_of_flight_is_not_there(
    client: TestClient, advertiser_id: int
) -> None:
    now = datetime.now(UTC)
    other = ok(client.post("/v1/advertisers", json={"name": "Other"}), 201)["id"]
    first, _ = activate(client, advertiser_id)
    activate(client, advertiser_id, ends_at=(now - timedelta(hours=1)).isoformat())
    activate(client, advertiser_id, starts_at=(now + timedelta(hours=1)).isoformat())
    flying = {"starts_at": (now - timedelta(hours=1)).isoformat()}
    second, rev = activate(client, other, **flying)
    assert ids(match(client, rev)) == [first, second]
    assert ids(match(client, rev, exclude={"campaigns": [first]})) == [second]
    assert ids(match(client, rev, exclude={"advertisers": [other]})) == [first]
    rev = ok(client.post(f"/v1/advertisers/{other}/pause"))["rev"]
    assert ids(match(client, rev)) == [first]
    rev = ok(client.post(f"/v1/advertisers/{other}/resume"))["rev"]
    assert ids(match(client, rev)) == [first, second]
    rev = ok(client.post(f"/v1/campaigns/{first}/pause"))["rev"]
    assert ids(match(client, rev)) == [second]


def test_a_rev_that_does_not_come_is_a_conflict(client: TestClient) -> None:
    answer = client.post("/v1/match", json={"attributes": {}, "min_rev": 10**6, "tmax_ms": 50})
    assert codes(answer, 409) == [("/min_rev", "rev.behind")]
    assert answer.json()["rev"] < 10**6


@pytest.mark.parametrize(
    ("attributes", "pointer", "code"),
    [
        ({"age": "old"}, "/attributes/age", "type.mismatch"),
        ({"segments": [1, "x"]}, "/attributes/segments/1", "type.mismatch"),
        ({"now.hour": 3}, "/attributes/now.hour", "event.builtin"),
        (
            {"request.blocked_categories": ["IAB1"]},
            "/attributes/request.blocked_categories",
            "event.builtin",
        ),
    ],
)
def test_a_wrong_attribute_is_named(
    client: TestClient, attributes: dict[str, Any], pointer: str, code: str
) -> None:
    answer = client.post("/v1/match", json={"attributes": attributes})
    assert answer.status_code == 422
    (item,) = answer.json()["errors"]
    assert (item["pointer"], item["code"]) == (pointer, code)


MISSPELT = {"contry": "US", "device": {"type": "phone"}, "age": 30}
HINTS = [
    "contry: did you mean country?",
    "device: attributes do not nest, their names have dots: device.type",
]


def test_unknown_attributes_are_ignored(client: TestClient, advertiser_id: int) -> None:
    id, rev = activate(client, advertiser_id)
    answer = match(client, rev, attributes=MISSPELT)
    assert ids(answer) == [id]
    assert not {"ignored", "hints"} & set(answer)


def test_unknown_attributes_are_reported_to_those_who_ask(
    client: TestClient, advertiser_id: int
) -> None:
    id, rev = activate(client, advertiser_id)
    answer = match(client, rev, attributes=MISSPELT, strict=False)
    assert (ids(answer), answer["ignored"], answer["hints"]) == ([id], ["contry", "device"], HINTS)
    answer = match(client, rev, attributes={"age": 30}, strict=False)
    assert (ids(answer), answer["ignored"], answer["hints"]) == ([id], [], [])
    requests = [{"attributes": MISSPELT, "strict": strict} for strict in (False, True)]
    batch = ok(client.post("/v1/match/batch", json={"requests": requests}))["responses"]
    assert batch[0]["ignored"] == ["contry", "device"]
    assert [item["pointer"] for item in batch[1]["errors"]] == [
        "/requests/1/attributes/contry",
        "/requests/1/attributes/device",
    ]


def test_unknown_attributes_are_refused_where_the_request_is_strict(client: TestClient) -> None:
    answer = client.post("/v1/match", json={"attributes": MISSPELT, "strict": True})
    assert codes(answer, 422) == [
        ("/attributes/contry", "attribute.unknown"),
        ("/attributes/device", "attribute.unknown"),
    ]
    details = [item["detail"] for item in answer.json()["errors"]]
    assert details == [f"there is no attribute {hint}" for hint in HINTS]
    ok(client.post("/v1/match", json={"attributes": {"age": 30}, "strict": True}))
    both = {"attributes": {"contry": "US", "age": "old"}, "strict": True}
    assert codes(client.post("/v1/match", json=both), 422) == [
        ("/attributes/age", "type.mismatch"),
        ("/attributes/contry", "attribute.unknown"),
    ]


@pytest.mark.parametrize(("policy", "status"), [("report", 200), ("refuse", 422)])
def test_a_setting_says_what_happens_to_unknown_attributes(
    url: str, tokens: dict[str, str], policy: str, status: int
) -> None:
    settings = Settings.from_environment(
        {"COPSE_DATABASE_URL": url, "COPSE_UNKNOWN_ATTRIBUTES": policy}
    )
    with client_of(settings, tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        answer = client.post("/v1/match", json={"attributes": MISSPELT})
        assert answer.status_code == status
        assert "contry" in answer.text
        lenient = {"attributes": MISSPELT, "strict": False}
        assert ok(client.post("/v1/match", json=lenient))["ignored"] == ["contry", "device"]


def test_all_that_is_wrong_is_answered_at_once(client: TestClient) -> None:
    wrong = {"attributes": {"age": "old", "now.hour": 3, "vip": 1}, "limit": 0, "colour": "red"}
    expected = [
        ("/limit", "number.range"),
        ("/colour", "field.unknown"),
        ("/attributes/age", "type.mismatch"),
        ("/attributes/now.hour", "event.builtin"),
    ]
    assert codes(client.post("/v1/match", json=wrong), 422) == expected
    batch = client.post("/v1/match/batch", json={"requests": [wrong]}).json()["responses"]
    assert [(item["pointer"], item["code"]) for item in batch[0]["errors"]] == [
        (f"/requests/0{pointer}", code) for pointer, code in expected
    ]
    only = {"attributes": {"age": "old", "now.hour": 3}}
    assert codes(client.post("/v1/match", json=only), 422) == expected[2:]


def test_matches_carry_the_fields_that_are_asked_for(
    client: TestClient, advertiser_id: int
) -> None:
    named, _ = activate(client, advertiser_id, external_id="spring-24", priority=2)
    bare, rev = activate(client, advertiser_id)
    answer = match(client, rev, fields=["external_id", "advertiser_id"])
    shown = [(m["campaign_id"], m["external_id"], m["advertiser_id"]) for m in answer["matches"]]
    assert shown == [(named, "spring-24", advertiser_id), (bare, None, advertiser_id)]
    again = match(client, rev, fields=["advertiser_id"])["matches"][0]
    assert list(again) == ["campaign_id", "priority", "bid_micros", "advertiser_id"]
    requests = [{"attributes": {}, "fields": ["external_id"]}, {"attributes": {}}]
    batch = ok(client.post("/v1/match/batch", json={"requests": requests}))["responses"]
    assert [each["matches"][0].get("external_id") for each in batch] == ["spring-24", None]


def test_a_changed_external_id_is_seen_after_a_second(
    client: TestClient, advertiser_id: int
) -> None:
    id, rev = activate(client, advertiser_id, external_id="spring-24")

    def name() -> str:
        external_id: str = match(client, rev, fields=["external_id"])["matches"][0]["external_id"]
        return external_id

    assert name() == "spring-24"
    change = {"external_id": "autumn-24"}
    ok(client.patch(f"/v1/campaigns/{id}", json=change, headers={"If-Match": "*"}))
    eventually(lambda: name() == "autumn-24")


def test_bodies_have_a_size_and_a_kind(client: TestClient) -> None:
    large = orjson.dumps({"attributes": {"country": "x" * 300_000}})
    json = {"Content-Type": "application/json"}
    assert client.post("/v1/match", content=large, headers=json).status_code == 413
    assert client.post("/v1/match", content=iter([large]), headers=json).status_code == 413
    assert client.post("/v1/match", content=b"{}").status_code == 415
    assert client.post("/v1/match", content=b"{", headers=json).status_code == 400
    assert client.get("/v1/match").status_code == 405


def test_only_a_match_key_gets_in(client: TestClient, tokens: dict[str, str]) -> None:
    for token, status in (("match", 200), ("campaigns:read", 403), ("revoked", 401)):
        headers = bearer(tokens[token])
        answer = client.post("/v1/match", json={"attributes": {}}, headers=headers)
        assert answer.status_code == status, token
    client.headers.pop("Authorization")
    answer = client.post("/v1/match", json={"attributes": {}})
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="copse"')


def test_a_batch_is_of_one_rev_and_has_a_problem_for_each_bad_one(
    client: TestClient, advertiser_id: int
) -> None:
    id, rev = activate(client, advertiser_id)
    requests = [
        {"attributes": {}, "min_rev": rev},
        {"attributes": {"age": "old"}},
        {"attributes": {}, "limit": 0},
        {"attributes": {}, "exclude": {"campaigns": [id]}},
    ]
    answer = ok(client.post("/v1/match/batch", json={"requests": requests}))
    first, wrong_type, wrong_limit, last = answer["responses"]
    assert (ids(first), ids(last), first["rev"]) == ([id], [], last["rev"])
    assert wrong_type["errors"][0]["pointer"] == "/requests/1/attributes/age"
    assert wrong_limit["errors"][0]["pointer"] == "/requests/2/limit"
    wrong: list[Any] = [[], {"requests": []}, {"requests": [{"attributes": {}}] * 101}, {}]
    for bad in wrong:
        assert client.post("/v1/match/batch", json=bad).status_code == 422


def test_a_bid_request_is_answered_for_each_imp(client: TestClient, advertiser_id: int) -> None:
    targeting = "country = 'US' and imp.sizes any of ('300x250')"
    id, rev = activate(client, advertiser_id, targeting=targeting, bid_micros=2_000_000)
    match(client, rev)
    bid: dict[str, Any] = {
        "id": "r1",
        "imp": [
            {"id": "1", "banner": {"w": 300, "h": 250}, "bidfloor": 1.5},
            {"id": "2", "banner": {"w": 300, "h": 250}, "bidfloor": 2.5},
        ],
        "device": {"geo": {"country": "USA"}},
    }
    answer = ok(client.post("/v1/openrtb", json=bid))
    assert [len(each["matches"]) for each in answer["imps"]] == [1, 0]
    assert not any("total" in each for each in answer["imps"])
    assert answer["imps"][0]["matches"][0]["campaign_id"] == id
    assert client.post("/v1/openrtb", json=bid | {"imp": bid["imp"][1:]}).status_code == 204
    assert client.post("/v1/openrtb", json={"id": "r1"}).status_code == 400


def test_what_happens_is_counted(client: TestClient, advertiser_id: int) -> None:
    _, rev = activate(client, advertiser_id)
    match(client, rev)
    client.post("/v1/match", json={"attributes": {"age": "old"}})
    text = client.get("/metrics").text
    assert 'copse_requests_total{route="match",status="200"} 1' in text
    assert 'copse_requests_total{route="match",status="422"} 1' in text
    assert "copse_match_duration_seconds_count 1" in text
    assert f'copse_index_revision{{worker="w0"}} {rev}' in text


def test_making_the_query_is_not_time_in_the_index(
    client: TestClient, advertiser_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, rev = activate(client, advertiser_id)

    def slow(made: Callable[..., Any]) -> Callable[..., Any]:
        def make(*arguments: Any) -> Any:
            time.sleep(0.1)
            return made(*arguments)

        return make

    monkeypatch.setattr(single, "Query", slow(Query))
    monkeypatch.setattr(openrtb, "ask", slow(ask))
    match(client, rev)
    ok(client.post("/v1/openrtb", json={"id": "1", "imp": [{"id": "1"}]}))
    text = client.get("/metrics").text
    assert "copse_match_duration_seconds_count 2" in text
    (total,) = re.findall(r"copse_match_duration_seconds_sum (\S+)", text)
    assert 0 < float(total) < 0.1
