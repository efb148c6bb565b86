"""`/v1/explain`: one campaign, and the funnel."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi.testclient import TestClient

from tests.app.answers import codes, eventually, ok


def campaign(client: TestClient, owner: int, **fields: Any) -> int:
    body = {"advertiser_id": owner, "name": "Spring", "targeting": "country = 'US'"} | fields
    id: int = ok(client.post("/v1/campaigns", json=body), 201)["id"]
    return id


def explain(client: TestClient, **sent: Any) -> dict[str, Any]:
    answer: dict[str, Any] = ok(client.post("/v1/explain", json=sent))
    return answer


def reasons(told: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in told["reasons"]]


def test_what_stood_in_the_way_is_named(client: TestClient, advertiser_id: int) -> None:
    id = campaign(client, advertiser_id, targeting="country = 'US' and age >= 18")
    ok(client.post(f"/v1/campaigns/{id}/activate"))
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
    draft = campaign(client, advertiser_id)
    assert reasons(explain(client, campaign_id=draft, attributes=here)) == ["draft"]
    over = campaign(client, advertiser_id, ends_at=(now - timedelta(days=1)).isoformat())
    ok(client.post(f"/v1/campaigns/{over}/activate"))
    assert reasons(explain(client, campaign_id=over, attributes=here)) == ["over"]
    early = campaign(client, advertiser_id, starts_at=(now + timedelta(days=1)).isoformat())
    ok(client.post(f"/v1/campaigns/{early}/activate"))
    excluded = {"campaigns": [early]}
    told = explain(client, campaign_id=early, attributes=here, exclude=excluded)
    assert reasons(told) == ["not_started", "excluded"]
    ok(client.post(f"/v1/advertisers/{advertiser_id}/pause"))
    told = explain(client, campaign_id=draft, attributes={})
    assert reasons(told) == ["draft", "advertiser_paused", "targeting"]


def test_the_built_in_attributes_may_be_sent(client: TestClient, advertiser_id: int) -> None:
    id = campaign(client, advertiser_id, targeting="now.hour = 3")
    ok(client.post(f"/v1/campaigns/{id}/activate"))
    assert explain(client, campaign_id=id, attributes={"now.hour": 3})["matched"]
    assert not explain(client, campaign_id=id, attributes={"now.hour": 4})["matched"]


def test_the_funnel_counts_what_keeps_campaigns_out(client: TestClient, advertiser_id: int) -> None:
    for targeting in ("country = 'US'", "country = 'FR'", "country = 'US' and age > 17", "true"):
        id = campaign(client, advertiser_id, targeting=targeting)
        ok(client.post(f"/v1/campaigns/{id}/activate"))
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["campaigns"] == 4)
    funnel = explain(client, attributes={"country": "FR"})["funnel"]
    assert (funnel["campaigns"], funnel["sampled"], funnel["matched"]) == (4, False, 2)
    assert funnel["kept_out"] == {"by_one": 1, "by_several": 1, "never": 0}
    assert funnel["alone"] == [{"attribute": "country", "campaigns": 1, "missing": False}]


def test_bad_questions_are_refused(client: TestClient) -> None:
    sent: dict[str, Any] = {"campaign_id": 999, "attributes": {}}
    assert client.post("/v1/explain", json=sent).status_code == 404
    answer = client.post("/v1/explain", json={"attributes": {"age": "old"}})
    assert codes(answer, 422) == [("/attributes/age", "type.mismatch")]
