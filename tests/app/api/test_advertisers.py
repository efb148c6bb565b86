"""`/v1/advertisers`."""

from fastapi.testclient import TestClient

from app.api.advertisers import ADVERTISER, Advertiser
from tests.app.answers import activate, codes, create_campaign, eventually, ok, problem

ROUTE = "/v1/advertisers"
ANY = {"If-Match": "*"}


def test_an_advertiser_is_created_read_and_changed(client: TestClient) -> None:
    response = client.post(ROUTE, json={"name": "Shop", "domain": "Shop.Example."})
    created = ok(response, 201)
    assert list(created) == list(ADVERTISER)
    assert (created["domain"], created["status"]) == ("shop.example", "active")
    assert response.headers["location"] == f"{ROUTE}/{created['id']}"
    Advertiser.model_validate(created)
    here = response.headers["location"]
    assert ok(client.get(here)) == created
    assert codes(client.patch(here, json={}), 428) == [("/if-match", "version.missing")]
    changed = ok(client.patch(here, json={"domain": None}, headers={"If-Match": '"1"'}))
    assert (changed["domain"], changed["version"]) == (None, 2)
    stale = client.patch(here, json={"name": "x"}, headers={"If-Match": '"1"'})
    assert problem(stale, 412)["current_version"] == 2


def test_what_is_wrong_is_told(client: TestClient, advertiser_id: int) -> None:
    assert codes(client.post(ROUTE, json={"domain": "no domain"}), 422) == [
        ("/domain", "domain.syntax"),
        ("/name", "field.missing"),
    ]
    here = f"{ROUTE}/{advertiser_id}"
    refused = client.patch(here, json={"status": "paused", "id": 7}, headers=ANY)
    assert codes(refused, 422) == [("/status", "field.read_only"), ("/id", "field.read_only")]


def test_pausing_an_advertiser_takes_its_campaigns_out(
    client: TestClient, advertiser_id: int
) -> None:
    campaign_id, _ = activate(client, advertiser_id)
    here = f"{ROUTE}/{advertiser_id}"

    def muted() -> int:
        count: int = client.get("/v1/index").json()["workers"][0]["stats"]["muted_groups"]
        return count

    paused = client.post(f"{here}/pause", headers={"If-Match": '"1"'})
    assert ok(paused)["status"] == "paused"
    assert paused.headers["etag"] == '"2"'
    assert codes(client.post(f"{here}/pause"), 409) == [("", "status.transition")]
    eventually(lambda: muted() == 1)
    assert ok(client.get(f"/v1/campaigns/{campaign_id}"))["status"] == "active"
    assert ok(client.post(f"{here}/resume"))["status"] == "active"
    eventually(lambda: muted() == 0)


def test_an_advertiser_with_campaigns_cannot_be_deleted(
    client: TestClient, advertiser_id: int
) -> None:
    campaign = create_campaign(client, advertiser_id)
    here = f"{ROUTE}/{advertiser_id}"
    in_use = problem(client.delete(here, headers=ANY), 409)
    assert (in_use["campaign_ids"], in_use["total"]) == ([campaign["id"]], 1)
    assert in_use["errors"][0]["code"] == "advertiser.in_use"
    client.delete(f"/v1/campaigns/{campaign['id']}", headers=ANY)
    assert ok(client.delete(here, headers=ANY))["rev"] > campaign["rev"]
    assert codes(client.get(here), 404) == [("", "advertiser.not_found")]


def test_a_list_is_filtered(client: TestClient, advertiser_id: int) -> None:
    other = ok(client.post(ROUTE, json={"name": "Other"}), 201)["id"]
    client.post(f"{ROUTE}/{other}/pause")

    def listed(**filters: str) -> list[int]:
        return [item["id"] for item in ok(client.get(ROUTE, params=filters))["items"]]

    assert listed() == [advertiser_id, other]
    assert listed(status="paused") == [other]
    assert listed(text="SHOP.ex") == [advertiser_id]
    assert codes(client.get(ROUTE, params={"status": "draft"}), 422)[0][0] == "/status"
