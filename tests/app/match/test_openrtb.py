"""`/v1/openrtb` through the router, on a real application."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from app.match import openrtb
from app.settings import Settings
from tests.app.answers import activate, codes, eventually, ok
from tests.app.conftest import POLL_SECONDS, client_of
from tests.app.observability.impressions.rows import logged

BID: dict[str, Any] = {"id": "a1", "imp": [{"id": "1"}, {"id": 2}]}


def test_the_log_has_the_ids_that_the_client_sent(
    url: str, tokens: dict[str, str], tmp_path: Path
) -> None:
    settings = Settings(
        database_url=url, feed_poll_seconds=POLL_SECONDS, impressions_dir=tmp_path / "log"
    )
    with client_of(settings, tokens["all"]) as client:
        id = {"X-Request-Id": "from-the-exchange"}
        client.post("/v1/openrtb", json=BID, headers=id)
        client.post("/v1/openrtb", json=BID | {"id": 7})
        client.post("/v1/match", json={"attributes": {}}, headers=id)
        client.post("/v1/match/batch", json={"requests": [{"attributes": {}}]}, headers=id)
    rows = logged(tmp_path / "log")
    sent = [(r.get("auction_id"), r.get("imp_id"), r.get("client_request_id")) for r in rows]
    mine = "from-the-exchange"
    assert sent == [
        ("a1", "1", mine),
        ("a1", 2, mine),
        (7, "1", None),
        (7, 2, None),
        (None, None, mine),
        (None, None, mine),
    ]
    assert len({row["request_id"] for row in rows}) == len(rows)


def test_what_is_tolerated_is_counted(client: TestClient) -> None:
    sloppy = BID | {"device": {"devicetype": "4"}, "tmax": "5000"}
    client.post("/v1/openrtb", json=sloppy)

    def counted() -> bool:
        text = client.get("/metrics").text
        return all(
            f'copse_openrtb_tolerated_total{{path="{path}"}} 1' in text
            for path in ("device.devicetype", "tmax", "imp.id")
        )

    eventually(counted)


def ready(client: TestClient, rev: int) -> None:
    ok(client.post("/v1/match", json={"attributes": {}, "min_rev": rev}))


@pytest.fixture
def served(client: TestClient) -> TestClient:
    """A client of a service with a campaign of an advertiser that has a seat."""
    shop = {"name": "Shop", "domain": "shop.example", "seat": "s1", "apps": ["com.shop"]}
    owner = ok(client.post("/v1/advertisers", json=shop), 201)["id"]
    _, rev = activate(client, owner, external_id="spring", bid_micros=2_000_000)
    ready(client, rev)
    return client


def test_a_match_says_whose_it_is(served: TestClient) -> None:
    bid = BID | {"imp": [{"id": "1", "banner": {"w": 300, "h": 250}}]}
    (match,) = ok(served.post("/v1/openrtb", json=bid))["imps"][0]["matches"]
    assert match | {"campaign_id": 0, "advertiser_id": 0} == {
        "campaign_id": 0,
        "priority": 0,
        "bid_micros": 2_000_000,
        "currency": "USD",
        "format": "banner",
        "deal_id": None,
        "advertiser_id": 0,
        "seat": "s1",
        "adomain": ["shop.example"],
        "external_id": "spring",
    }
    id, etag = match["campaign_id"], '"2"'
    merge = {"If-Match": etag, "Content-Type": "application/merge-patch+json"}
    changed = served.patch(f"/v1/campaigns/{id}", json={"external_id": "fall"}, headers=merge)
    ready(served, ok(changed)["rev"])
    (match,) = ok(served.post("/v1/openrtb", json=bid))["imps"][0]["matches"]
    assert match["external_id"] == "fall"
    for restriction in ({"wseat": ["s2"]}, {"bseat": ["s1"]}, {"bapp": ["com.shop"]}):
        assert served.post("/v1/openrtb", json=bid | restriction).status_code == 204


def test_a_bid_response_where_it_is_asked_for(served: TestClient) -> None:
    by_accept = served.post(
        "/v1/openrtb", json=BID, headers={"Accept": "application/vnd.openrtb+json"}
    )
    by_query = served.post("/v1/openrtb?format=bidresponse", json=BID)
    for response in (by_accept, by_query):
        sent = ok(response)
        assert response.headers["x-openrtb-version"] == "2.6"
        assert [bid["impid"] for bid in sent["seatbid"][0]["bid"]] == ["1", "2"]
        assert (sent["id"], sent["cur"], sent["seatbid"][0]["seat"]) == ("a1", "USD", "s1")


def test_no_bid_has_its_reason(served: TestClient) -> None:
    high = BID | {"imp": [{"id": "1", "bidfloor": 9}]}
    unknown = BID | {"cur": ["XXX"]}
    for path in ("/v1/openrtb", "/v1/openrtb?format=bidresponse"):
        nothing = served.post(path, json=high)
        assert (nothing.status_code, nothing.content) == (204, b"")
        assert nothing.headers["x-copse-no-bid"] == "no_match"
        assert served.post(path, json=unknown).headers["x-copse-no-bid"] == "currency"
    asked = served.post("/v1/openrtb?format=bidresponse&nbr=1", json=unknown)
    assert ok(asked) == {"id": "a1", "nbr": 503}


@pytest.mark.parametrize("version", ["2.5", "2.6", "2.6-202211"])
def test_versions_that_are_understood(served: TestClient, version: str) -> None:
    ok(served.post("/v1/openrtb", json=BID, headers={"x-openrtb-version": version}))


def test_imps_that_are_too_late_are_counted(
    served: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openrtb, "LONGEST_ANSWER", 0.0)
    imps = ok(served.post("/v1/openrtb", json=BID))["imps"]
    assert [bool(imp["matches"]) for imp in imps] == [True, False]
    counted = 'copse_no_match_total{reason="deadline"} 1'
    eventually(lambda: counted in served.get("/metrics").text)


def test_version_3_is_refused_with_its_reason(served: TestClient) -> None:
    for version in ("3.0", "20"):
        refused = served.post("/v1/openrtb", json=BID, headers={"x-openrtb-version": version})
        assert codes(refused, 400) == [("", "openrtb.version")]
        assert f"OpenRTB {version} is not supported" in refused.text
    wrapped = served.post("/v1/openrtb", json={"openrtb": {"ver": "3.0", "request": {}}})
    assert codes(wrapped, 400) == [("/openrtb", "openrtb.version")]


@pytest.mark.parametrize(
    ("path", "sent"), [("/v1/openrtb", BID), ("/v1/match", {"attributes": {}})]
)
def test_gzip_in(served: TestClient, path: str, sent: Any) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}

    def post(content: bytes) -> Any:
        return served.post(path, content=content, headers=headers)

    packed = gzip.compress(orjson.dumps(sent))
    assert ok(post(packed)) == ok(served.post(path, json=sent))
    assert post(packed[:-4]).status_code == 400
    assert post(b"not gzip").status_code == 400
    assert post(packed + b"more").status_code == 400
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000
    assert post(bomb).status_code == 413
    brotli = headers | {"Content-Encoding": "br"}
    assert served.post(path, content=packed, headers=brotli).status_code == 415


def test_gzip_out_of_long_answers(served: TestClient) -> None:
    many = BID | {"imp": [{"id": str(n)} for n in range(20)]}
    packed = served.post("/v1/openrtb", json=many, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    plain = served.post("/v1/openrtb", json=many, headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert ok(packed) == ok(plain)
    short = served.post("/v1/match", json={"attributes": {}}, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in short.headers
