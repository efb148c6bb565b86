"""`/v1/explain`: one campaign, and the funnel."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi.testclient import TestClient

from tests.app.answers import activate, codes, create_campaign, eventually, ok

IN_THE_US = {"targeting": "country = 'US'"}


def explain(client: TestClient, **sent: Any) -> dict[str, Any]:
    answer: dict[str, Any] = ok(client.post("/v1/explain", json=sent))
    return answer


def reasons(told: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in told["reasons"]]


def test_what_stood_in_the_way_is_named(client: TestClient, advertiser_id: int) -> None:
    id, _ = activate(client, advertiser_id, targeting="country = 'US' and age >= 18")
    told = explain(client, campaign_id=id, attributes={"country": "FR", "age": 30})
    assert (told["matched"], reasons(told)) == (False, ["targeting"])
    assert [each["value"] for each in told["tree"]["children"]] == ["false", "true"]
    (obstacle,) = told["in_the_way"]["obstacles"]
    assert (obstacle["text"], obstacle["why"]) == ("country = 'US'", "country is 'FR'")
    told = explain(client, campaign_id=id, attributes={"country": "US", "age": 30})
    assert (told["matched"], told["reasons"], told["in_the_way"]["obstacles"]) == (True, [], [])


def test_a_campaign_that_is_not_eligible_says_why(client: TestClient, advertiser_id: int) -> None:
    here = {"country": "US"}
    now = datetime.now(UTC)
    draft = create_campaign(client, advertiser_id, **IN_THE_US)["id"]
    assert reasons(explain(client, campaign_id=draft, attributes=here)) == ["draft"]
    ended = {"ends_at": (now - timedelta(days=1)).isoformat()}
    over, _ = activate(client, advertiser_id, **IN_THE_US, **ended)
    assert reasons(explain(client, campaign_id=over, attributes=here)) == ["over"]
    starting = {"starts_at": (now + timedelta(days=1)).isoformat()}
    early, _ = activate(client, advertiser_id, **IN_THE_US, **starting)
    excluded = {"campaigns": [early]}
    told = explain(client, campaign_id=early, attributes=here, exclude=excluded)
    assert reasons(told) == ["not_started", "excluded"]
    ok(client.post(f"/v1/advertisers/{advertiser_id}/pause"))
    told = explain(client, campaign_id=draft, attributes={})
    assert reasons(told) == ["draft", "advertiser_paused", "targeting"]


def test_the_built_in_attributes_may_be_sent(client: TestClient, advertiser_id: int) -> None:
    id, _ = activate(client, advertiser_id, targeting="now.hour = 3")
    assert explain(client, campaign_id=id, attributes={"now.hour": 3})["matched"]
    assert not explain(client, campaign_id=id, attributes={"now.hour": 4})["matched"]


def test_the_funnel_counts_what_keeps_campaigns_out(client: TestClient, advertiser_id: int) -> None:
    for targeting in ("country = 'US'", "country = 'FR'", "country = 'US' and age > 17", "true"):
        activate(client, advertiser_id, targeting=targeting)
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 4)
    funnel = explain(client, attributes={"country": "FR"})["funnel"]
    assert (funnel["campaigns"], funnel["sampled"], funnel["matched"]) == (4, False, 2)
    assert funnel["kept_out"] == {"by_one": 1, "by_several": 1, "never": 0}
    assert funnel["alone"] == [{"attribute": "country", "campaigns": 1, "missing": False}]


def test_a_blocked_category_is_the_reason_here_and_in_the_funnel(
    client: TestClient, advertiser_id: int
) -> None:
    fields = {**IN_THE_US, "categories": ["IAB7-39", "IAB1"]}
    id, _ = activate(client, advertiser_id, **fields)
    for _ in range(2):
        activate(client, advertiser_id, **IN_THE_US)
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 3)
    blocking = {"country": "US", "request.blocked_categories": ["iab7", "IAB2"]}
    told = explain(client, campaign_id=id, attributes=blocking)
    detail = "the request blocks its categories IAB7-39"
    assert told["reasons"] == [{"code": "blocked_category", "detail": detail}]
    assert told["tree"]["value"] == "true"
    funnel = explain(client, attributes=blocking)["funnel"]
    assert (funnel["matched"], funnel["kept_out"]["by_one"]) == (2, 1)
    assert [each["attribute"] for each in funnel["alone"]] == ["request.blocked_categories"]
    for blocked in (["IAB7-3"], [], None):
        asked = blocking | {"request.blocked_categories": blocked}
        assert explain(client, campaign_id=id, attributes=asked)["matched"]
        assert explain(client, attributes=asked)["funnel"]["matched"] == 3
    wrong = {"attributes": {"request.blocked_categories": [7]}}
    for question in ({"campaign_id": id}, {}):
        assert client.post("/v1/explain", json=question | wrong).status_code == 422


def test_a_floor_is_the_reason_here_in_the_funnel_and_in_a_match(
    client: TestClient, advertiser_id: int
) -> None:
    low, _ = activate(client, advertiser_id, **IN_THE_US, bid_micros=700_000)
    high, rev = activate(client, advertiser_id, **IN_THE_US, bid_micros=1_000_000)
    sent = {"country": "US", "imp.floor_micros": 1_000_000}
    answer = ok(client.post("/v1/match", json={"attributes": sent, "min_rev": rev, "total": True}))
    assert ([match["campaign_id"] for match in answer["matches"]], answer["total"]) == ([high], 1)
    told = explain(client, campaign_id=low, attributes=sent)
    detail = "it bids 700000 micros, the floor is 1000000"
    assert told["reasons"] == [{"code": "floor", "detail": detail}]
    assert explain(client, campaign_id=high, attributes=sent)["matched"]
    funnel = explain(client, attributes=sent)["funnel"]
    assert funnel["matched"] == 1
    assert funnel["alone"] == [{"attribute": "imp.floor_micros", "campaigns": 1, "missing": False}]


def test_unknown_attributes_are_always_named(client: TestClient, advertiser_id: int) -> None:
    id, _ = activate(client, advertiser_id, **IN_THE_US)
    for question in ({"campaign_id": id}, {}):
        told = explain(client, **question, attributes={"contry": "US", "device": {"type": "tv"}})
        assert told["ignored"] == ["contry", "device"]
        assert told["hints"][0] == "contry: did you mean country?"
        assert told["hints"][1].endswith("their names have dots: device.type")


def test_bad_questions_are_refused(client: TestClient) -> None:
    sent: dict[str, Any] = {"campaign_id": 999, "attributes": {}}
    assert client.post("/v1/explain", json=sent).status_code == 404
    answer = client.post("/v1/explain", json={"attributes": {"age": "old"}})
    assert codes(answer, 422) == [("/attributes/age", "type.mismatch")]


def test_a_bid_request_is_explained_offer_by_offer(client: TestClient, advertiser_id: int) -> None:
    near = "device.ip in network ('203.0.113.0/24')"
    deal = f"imp.deals any of ('A') and user.segments any of ('p|:1') and {near}"
    id, _ = activate(client, advertiser_id, targeting=deal, bid_micros=700_000)
    better, rev = activate(client, advertiser_id, targeting=deal, bid_micros=900_000)
    ok(client.post("/v1/match", json={"attributes": {}, "min_rev": rev}))
    user = {"data": [{"name": "p", "segment": [{"id": "1"}]}]}
    imp = {"id": 1, "video": {}, "bidfloor": 1, "pmp": {"deals": [{"id": "A", "bidfloor": 0.5}]}}
    bid: dict[str, Any] = {"id": "r", "imp": [imp], "user": user, "device": {"ip": "203.0.113.77"}}

    def explained(**changes: Any) -> Any:
        sent = {"campaign_id": id, "bid_request": bid | changes}
        return ok(client.post("/v1/explain", json=sent))

    said = explained()
    assert said["matched"]
    assert [(o["deal_id"], o["matched"]) for o in said["offers"]] == [(None, False), ("A", True)]
    assert [reason["code"] for reason in said["offers"][0]["reasons"]] == ["floor", "deal"]
    assert said["ranks"] == [{"imp_id": 1, "rank": 2, "outranked": False, "above": [better]}]
    assert said["request"]["events"][0]["format"] == "video"
    attributes = said["request"]["events"][0]["attributes"]
    assert (attributes["user.segments"], attributes["device.ip"]) == (["p|:1"], "203.0.113.0")
    (match,) = (
        m
        for m in ok(client.post("/v1/openrtb", json=bid))["imps"][0]["matches"]
        if m["campaign_id"] == id
    )
    assert match["deal_id"] == "A"

    withheld = explained(regs={"coppa": 1})
    assert not withheld["matched"]
    assert [reason["code"] for reason in withheld["reasons"]] == ["targeting", "consent"]
    assert withheld["reasons"][1]["detail"] == "device.ip, user.segments may not be used: coppa"
    assert withheld["request"]["withheld_by"] == ["coppa"]
    assert withheld["in_the_way"]["obstacles"][0]["attribute"] == "user.segments"

    funnel = ok(client.post("/v1/explain", json={"bid_request": bid | {"user": {}}}))["funnel"]
    assert (funnel["campaigns"], funnel["matched"]) == (2, 0)
    assert funnel["by_reason"] == {"targeting": 2}
    assert not funnel["sampled"]
    client.post(f"/v1/campaigns/{id}/pause")
    assert [reason["code"] for reason in explained()["reasons"]] == ["paused"]


def test_a_bid_request_that_is_none_is_refused(client: TestClient) -> None:
    wrong = client.post("/v1/explain", json={"bid_request": {"id": "r"}})
    assert codes(wrong, 422) == [("/bid_request/imp", "openrtb.imp")]
    both = {"bid_request": {"id": "r"}, "attributes": {"age": 3}}
    assert client.post("/v1/explain", json=both).status_code == 422


def test_a_sloppy_bid_request_is_explained_as_it_is_answered(
    client: TestClient, advertiser_id: int
) -> None:
    id, rev = activate(client, advertiser_id, targeting="imp.tagid = '\ufffd'")
    ok(client.post("/v1/match", json={"attributes": {}, "min_rev": rev}))
    imp = b'{"id": "1", "tagid": "\\udc00"}'
    bid = b'{"id": "\\ud800", "x": 123456789012345678901234567890, "imp": [%b]}' % imp
    json = {"Content-Type": "application/json"}
    answer = ok(client.post("/v1/openrtb", content=bid, headers=json))
    assert [match["campaign_id"] for match in answer["imps"][0]["matches"]] == [id]
    asked = b'{"campaign_id": %d, "bid_request": %b}' % (id, bid)
    told = ok(client.post("/v1/explain", content=asked, headers=json))
    assert told["matched"]
    assert told["request"]["tolerated"] == {"body": 1}
    not_a_number = asked.replace(b"123456789012345678901234567890", b"NaN")
    refused = client.post("/v1/explain", content=not_a_number, headers=json)
    assert codes(refused, 422) == [("/bid_request", "json.malformed")]


def test_an_outranked_campaign_is_told_who_is_above_it(
    client: TestClient, advertiser_id: int
) -> None:
    ids = [activate(client, advertiser_id, bid_micros=100 - n)[0] for n in range(11)]
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 11)
    bid = {"id": "r", "imp": [{"id": "1"}]}
    told = explain(client, campaign_id=ids[-1], bid_request=bid)
    assert (told["matched"], reasons(told)) == (False, ["outranked"])
    assert told["ranks"] == [{"imp_id": "1", "rank": 11, "outranked": True, "above": ids[:10]}]
    above = ", ".join(map(str, ids[:10]))
    detail = f"its rank is 11, an answer has 10; above it are {above}"
    assert told["offers"][0]["reasons"] == [{"code": "outranked", "detail": detail}]
    funnel = explain(client, bid_request=bid)["funnel"]
    assert (funnel["matched"], funnel["by_reason"]) == (10, {"outranked": 1})
