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
