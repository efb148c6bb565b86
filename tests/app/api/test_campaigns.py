"""`/v1/campaigns`."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.campaign_models import CAMPAIGN, Campaign, CampaignPage, Preview, SavedCampaign
from tests.app.answers import codes, create_campaign, eventually, ok, problem

ROUTE = "/v1/campaigns"
EVERYTHING = {
    "external_id": "spring-24",
    "name": "Spring",
    "starts_at": "2026-11-20T01:00:00+01:00",
    "ends_at": "2026-12-20T00:00:00Z",
    "priority": 5,
    "bid_micros": 1_200_000,
    "categories": ["IAB2"],
    "targeting": "country in ('US', 'CA') and device.type = 'phone'",
}


@pytest.fixture
def campaign(client: TestClient, advertiser_id: int) -> Any:
    body = EVERYTHING | {"advertiser_id": advertiser_id}
    created = ok(client.post(ROUTE, json=body), 201)
    del created["warnings"]
    return created


def of(campaign: Any, action: str = "") -> str:
    return f"{ROUTE}/{campaign['id']}{action}"


def test_a_campaign_is_created_as_a_draft(client: TestClient, advertiser_id: int) -> None:
    body = EVERYTHING | {"advertiser_id": advertiser_id}
    response = client.post(ROUTE, json=body)
    created = ok(response, 201)
    assert created.pop("warnings") == []
    assert list(created) == list(CAMPAIGN)
    assert created == created | body | {"starts_at": "2026-11-20T00:00:00Z"}
    assert (created["status"], created["version"]) == ("draft", 1)
    assert response.headers["etag"] == '"1"'
    assert response.headers["location"] == of(created)
    read = client.get(of(created))
    assert ok(read) == created
    assert read.headers["etag"] == '"1"'
    Campaign.model_validate(created)


def test_everything_that_is_wrong_is_told_at_once(client: TestClient) -> None:
    body = {
        "name": " ",
        "priority": 1.0,
        "bid_micros": True,
        "starts_at": "2026-11-20T00:00:00",
        "categories": ["IAB1", 2],
        "targeting": "contry = 'US'",
        "status": "active",
        "colour": "red",
    }
    response = client.post(ROUTE, json=body)
    assert sorted(codes(response, 422)) == [
        ("/advertiser_id", "field.missing"),
        ("/bid_micros", "type.integer"),
        ("/categories/1", "type.string"),
        ("/colour", "field.unknown"),
        ("/name", "text.blank"),
        ("/priority", "type.integer"),
        ("/starts_at", "moment.zone"),
        ("/status", "field.read_only"),
        ("/targeting", "attribute.unknown"),
    ]
    (targeting,) = [e for e in response.json()["errors"] if e["pointer"] == "/targeting"]
    assert (targeting["line"], targeting["column"]) == (1, 1)
    assert "^^^^^^" in targeting["caret"]
    assert targeting["hint"] == "did you mean country?"


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b'"x"'])
def test_a_body_that_is_no_object_is_refused(client: TestClient, body: bytes) -> None:
    json = {"content-type": "application/json"}
    problem(client.post(ROUTE, content=body, headers=json), 422)


def test_a_body_of_another_kind_is_refused(client: TestClient) -> None:
    problem(client.post(ROUTE, content=b"x", headers={"content-type": "text/plain"}), 415)


def test_an_external_id_belongs_to_one(
    client: TestClient, campaign: Any, advertiser_id: int
) -> None:
    body = EVERYTHING | {"advertiser_id": advertiser_id}
    assert codes(client.post(ROUTE, json=body), 409) == [("/external_id", "external_id.taken")]


def test_a_change_needs_the_version_that_was_seen(client: TestClient, campaign: Any) -> None:
    body = {"bid_micros": 5}
    assert codes(client.patch(of(campaign), json=body), 428) == [("/if-match", "version.missing")]
    changed = client.patch(of(campaign), json=body, headers={"If-Match": '"1"'})
    assert ok(changed)["bid_micros"] == 5
    assert changed.headers["etag"] == '"2"'
    assert changed.json()["rev"] > campaign["rev"]

    stale = client.patch(of(campaign), json={"bid_micros": 6}, headers={"If-Match": '"1"'})
    assert codes(stale, 412) == [("/if-match", "version.stale")]
    assert stale.json()["current_version"] == 2
    assert stale.headers["etag"] == '"2"'

    assert ok(client.patch(of(campaign), json=body, headers={"If-Match": "*"}))["version"] == 2


@pytest.mark.parametrize("tag", ['"0"', '"x"', 'W/"1"', '"99999999999999999999"', '""'])
def test_a_tag_that_we_never_gave_matches_nothing(
    client: TestClient, campaign: Any, tag: str
) -> None:
    answer = client.patch(of(campaign), json={"bid_micros": 5}, headers={"If-Match": tag})
    assert problem(answer, 412)["current_version"] == 1


@pytest.mark.parametrize("tag", ["1", '"1", "2"', '"1', ""])
def test_what_is_no_tag_is_refused(client: TestClient, campaign: Any, tag: str) -> None:
    answer = client.patch(of(campaign), json={"bid_micros": 5}, headers={"If-Match": tag})
    assert codes(answer, 400) == [("/if-match", "version.syntax")]


@pytest.mark.parametrize("media_type", ["application/merge-patch+json", "application/json"])
def test_a_patch_is_a_merge_patch(client: TestClient, campaign: Any, media_type: str) -> None:
    headers = {"If-Match": '"1"', "content-type": media_type}
    body = b'{"ends_at": null, "categories": ["IAB3", "IAB3"], "targeting": null}'
    changed = ok(client.patch(of(campaign), content=body, headers=headers))
    assert changed == campaign | {
        "ends_at": None,
        "categories": ["IAB3"],
        "targeting": "true",
        "version": 2,
        "rev": changed["rev"],
        "updated_at": changed["updated_at"],
        "warnings": [],
    }


def test_a_patch_that_cannot_be_says_why(client: TestClient, campaign: Any) -> None:
    any_version = {"If-Match": "*"}
    body = {"name": None, "status": "active", "ends_at": "2026-11-20T00:00:00Z"}
    refused = client.patch(of(campaign), json=body, headers=any_version)
    assert codes(refused, 422) == [("/name", "field.null"), ("/status", "field.read_only")]
    body = {"ends_at": "2026-11-20T00:00:00Z"}
    refused = client.patch(of(campaign), json=body, headers=any_version)
    assert codes(refused, 422) == [("/ends_at", "window.empty")]


def test_the_statuses_are_reached_by_actions(client: TestClient, campaign: Any) -> None:
    def act(action: str, **headers: str) -> Any:
        return client.post(of(campaign, f"/{action}"), headers=headers)

    assert codes(act("pause"), 409) == [("", "status.transition")]
    activated = act("activate")
    assert ok(activated)["status"] == "active"
    assert activated.headers["etag"] == '"2"'
    assert problem(act("pause", **{"If-Match": '"1"'}), 412)["current_version"] == 2
    assert ok(act("pause", **{"If-Match": '"2"'}))["status"] == "paused"
    assert ok(act("activate"))["status"] == "active"
    refused = client.delete(of(campaign), headers={"If-Match": "*"})
    assert codes(refused, 409) == [("", "campaign.active")]
    assert ok(act("archive"))["status"] == "archived"
    changed = client.patch(of(campaign), json={"name": "x"}, headers={"If-Match": "*"})
    assert codes(changed, 409) == [("", "campaign.final")]


def test_an_active_campaign_is_in_the_index_and_a_paused_one_is_not(
    client: TestClient, campaign: Any
) -> None:
    def count() -> int:
        found: int = client.get("/v1/index").json()["workers"][0]["campaigns"]
        return found

    client.post(of(campaign, "/activate"))
    eventually(lambda: count() == 1)
    client.post(of(campaign, "/pause"))
    eventually(lambda: count() == 0)


def test_a_deleted_campaign_is_gone(client: TestClient, campaign: Any) -> None:
    assert codes(client.delete(of(campaign)), 428) == [("/if-match", "version.missing")]
    problem(client.delete(of(campaign), headers={"If-Match": '"2"'}), 412)
    removed = ok(client.delete(of(campaign), headers={"If-Match": '"1"'}))
    assert removed == {"rev": campaign["rev"] + 1}
    for answer in (
        client.get(of(campaign)),
        client.delete(of(campaign), headers={"If-Match": "*"}),
        client.patch(of(campaign), json={}, headers={"If-Match": "*"}),
        client.post(of(campaign, "/activate")),
        client.post(of(campaign, "/preview"), json={}),
    ):
        assert codes(answer, 404) == [("", "campaign.not_found")]


@pytest.mark.parametrize("id", ["0", "9223372036854775808"])
def test_an_id_that_cannot_be_is_refused(client: TestClient, id: str) -> None:
    assert codes(client.get(f"{ROUTE}/{id}"), 422)[0][0] == "/id"


@pytest.mark.parametrize("id", ["-1", "x", "1.5", "%31%32x"])
def test_what_is_no_id_is_nothing(client: TestClient, id: str) -> None:
    problem(client.get(f"{ROUTE}/{id}"), 404)


def test_a_list_is_read_page_by_page_while_rows_change(
    client: TestClient, advertiser_id: int
) -> None:
    def create(name: str) -> int:
        id: int = ok(client.post(ROUTE, json={"advertiser_id": advertiser_id, "name": name}), 201)[
            "id"
        ]
        return id

    ids = [create(f"campaign {n}") for n in range(7)]
    first = ok(client.get(ROUTE, params={"limit": 3}))
    CampaignPage.model_validate(first)
    assert [item["id"] for item in first["items"]] == ids[:3]
    client.delete(f"{ROUTE}/{ids[0]}", headers={"If-Match": "*"})
    client.delete(f"{ROUTE}/{ids[4]}", headers={"If-Match": "*"})
    last = create("campaign 7")
    seen = []
    cursor = first["next_cursor"]
    while cursor:
        page = ok(client.get(ROUTE, params={"limit": 3, "cursor": cursor}))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [ids[3], ids[5], ids[6], last]


def test_a_list_is_filtered(client: TestClient, campaign: Any, advertiser_id: int) -> None:
    other = ok(client.post("/v1/advertisers", json={"name": "Other"}), 201)["id"]
    plain = ok(client.post(ROUTE, json={"advertiser_id": other, "name": "100% Plain"}), 201)
    client.post(of(campaign, "/activate"))

    def listed(**filters: object) -> list[int]:
        found = ok(client.get(ROUTE, params=filters))["items"]  # type: ignore[arg-type]
        return [item["id"] for item in found]

    assert listed() == [campaign["id"], plain["id"]]
    assert listed(status="active") == [campaign["id"]]
    assert listed(status="draft") == [plain["id"]]
    assert listed(advertiser_id=other) == [plain["id"]]
    assert listed(text="spring-2") == [campaign["id"]]
    assert listed(external_id="spring-24") == [campaign["id"]]
    assert listed(external_id="spring-2") == []
    assert listed(text="DEVICE.type") == [campaign["id"]]
    assert listed(text="0% p") == [plain["id"]]
    assert listed(text="spring", status="draft") == []


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"limit": "0"}, "/limit"),
        ({"limit": "1001"}, "/limit"),
        ({"limit": "x"}, "/limit"),
        ({"status": "gone"}, "/status"),
        ({"advertiser_id": "0"}, "/advertiser_id"),
        ({"cursor": "nonsense"}, "/cursor"),
        ({"text": "a\0b"}, "/text"),
        ({"statsu": "active"}, "/statsu"),
    ],
)
def test_a_list_that_cannot_be_asked_for_is_refused(
    client: TestClient, query: dict[str, str], pointer: str
) -> None:
    assert codes(client.get(ROUTE, params=query), 422)[0][0] == pointer


def test_a_cursor_belongs_to_its_filters(client: TestClient, advertiser_id: int) -> None:
    for name in ("a", "b"):
        client.post(ROUTE, json={"advertiser_id": advertiser_id, "name": name})
    cursor = ok(client.get(ROUTE, params={"limit": 1}))["next_cursor"]
    other = client.get(ROUTE, params={"limit": 1, "cursor": cursor, "status": "draft"})
    assert codes(other, 422) == [("/cursor", "cursor.wrong")]


def test_a_new_campaign_is_previewed_and_not_written(
    client: TestClient, campaign: Any, advertiser_id: int
) -> None:
    body = EVERYTHING | {"advertiser_id": advertiser_id, "external_id": None}
    found = ok(client.post(f"{ROUTE}/preview", json=body))
    Preview.model_validate(found)
    assert found["campaign"]["id"] is None
    assert found["normal_form"]["text"] == "country in ('CA', 'US') and device.type = 'phone'"
    assert found["predicates"] == 2
    assert found["attributes"] == ["country", "device.type"]
    assert found["same_targeting"] == [campaign["id"]]
    assert [warning["code"] for warning in found["warnings"]] == ["same_targeting"]
    assert found["cost"]["access"]
    assert len(ok(client.get(ROUTE))["items"]) == 1
    assert codes(client.post(f"{ROUTE}/preview", json={}), 422)


def test_a_change_is_previewed_and_not_written(client: TestClient, campaign: Any) -> None:
    body = {"targeting": "age > 30 and age < 20", "priority": 6}
    found = ok(client.post(of(campaign, "/preview"), json=body))
    Preview.model_validate(found)
    assert sorted(found["changes"]) == ["priority", "targeting"]
    assert [warning["code"] for warning in found["warnings"]] == ["never_true"]
    assert found["cost"]["way"] == "never"
    assert ok(client.get(of(campaign))) == campaign
    wrong = client.post(of(campaign, "/preview"), json={"targeting": "age >"})
    assert codes(wrong, 422)[0][0] == "/targeting"


def test_activating_what_has_ended_warns(client: TestClient, advertiser_id: int) -> None:
    def warnings(path: str, body: Any = None) -> list[str]:
        answer = ok(client.post(path, json=body))
        return [warning["code"] for warning in answer["warnings"]]

    ended = {"ends_at": "2020-01-01T00:00:00Z", "targeting": "age > 17"}
    over = create_campaign(client, advertiser_id, **ended)["id"]
    assert warnings(f"/v1/campaigns/{over}/activate") == ["ended"]
    assert warnings(f"/v1/campaigns/{over}/preview", {}) == ["ended"]
    assert warnings(f"/v1/campaigns/{over}/preview", {"ends_at": None}) == []
    flying = create_campaign(client, advertiser_id)["id"]
    assert warnings(f"/v1/campaigns/{flying}/activate") == []


TRAP = "country = 'USA' and site.domain != 'bad.example'"


def test_a_suspicious_targeting_gets_warnings_wherever_it_is_sent(
    client: TestClient, advertiser_id: int
) -> None:
    body = {"advertiser_id": advertiser_id, "name": "Trap", "targeting": TRAP}
    headers = {"Idempotency-Key": "once"}
    created = client.post(ROUTE, json=body, headers=headers)
    found = ok(created, 201)["warnings"]
    assert [each["code"] for each in found] == ["often_missing", "unlisted_value"]
    assert found[1] == {
        "code": "unlisted_value",
        "message": "country does not have the value 'USA'",
        "pointer": "/targeting",
        "start": 10,
        "end": 15,
        "suggestion": "write 'US'",
        "replacement": "'US'",
    }
    SavedCampaign.model_validate(created.json())
    assert ok(client.post(ROUTE, json=body, headers=headers), 201)["warnings"] == found
    campaign = created.json()
    previewed = ok(client.post(of(campaign, "/preview"), json={"priority": 1}))["warnings"]
    assert previewed == found
    checked = ok(client.post("/v1/expressions/validate", json={"text": TRAP}))["warnings"]
    assert checked == [each | {"pointer": "/text"} for each in found]
    match = {"If-Match": "*", "Content-Type": "application/merge-patch+json"}
    patched = client.patch(of(campaign), content='{"name": "Other"}', headers=match)
    assert ok(patched)["warnings"] == [], "it is not about the targeting"
    again = client.patch(of(campaign), content='{"targeting": "country = \'us\'"}', headers=match)
    assert [each["replacement"] for each in ok(again)["warnings"]] == ["'US'"]


def test_more_of_an_address_than_requests_have_is_refused_wherever_it_is_sent(
    client: TestClient, advertiser_id: int
) -> None:
    narrow = "device.ip in network ('203.0.113.7/32')"
    body = {"advertiser_id": advertiser_id, "name": "Office", "targeting": narrow}
    good = ok(client.post(ROUTE, json=body | {"targeting": "device.ip is not null"}), 201)
    match = {"If-Match": "*", "Content-Type": "application/merge-patch+json"}
    found = [
        client.post(ROUTE, json=body),
        client.post(of(good, "/preview"), json={"targeting": narrow}),
        client.patch(of(good), content=f'{{"targeting": "{narrow}"}}', headers=match),
        client.post("/v1/expressions/validate", json={"text": narrow}),
    ]
    for response in found:
        assert response.status_code == 422
        [error] = response.json()["errors"]
        assert (error["code"], error["hint"]) == ("value.narrow", "write '203.0.113.0/24'")
    row = f'name,advertiser_id,external_id,targeting\nOffice,{advertiser_id},o,"{narrow}"\n'
    csv = {"Content-Type": "text/csv"}
    imported = client.post(f"{ROUTE}/import", content=row, headers=csv).json()
    assert [each["code"] for each in imported["errors"]] == ["value.narrow"]
    declared = {"text": narrow, "attributes": [{"name": "device.ip", "type": "ip"}]}
    assert ok(client.post("/v1/expressions/validate", json=declared))["warnings"] == []
