"""`/v1/attributes`."""

from fastapi.testclient import TestClient

from app.api.attributes import ATTRIBUTE, AttributeList, CatalogueAttribute
from tests.app.answers import codes, create_campaign, eventually, ok, problem

ROUTE = "/v1/attributes"
ANY = {"If-Match": "*"}
NEW = {"name": "page.viewability", "type": "float", "description": "0 to 1"}


def test_the_catalogue_is_listed_with_what_is_built_in(client: TestClient) -> None:
    found = ok(client.get(ROUTE))
    AttributeList.model_validate(found)
    names = [item["name"] for item in found["items"]]
    assert names == sorted(names)
    assert {"country", "now.hour", "now.weekday"} <= set(names)
    assert ok(client.get(f"{ROUTE}/now.hour"))["built_in"] is True
    assert list(ok(client.get(f"{ROUTE}/age"))) == list(ATTRIBUTE)


def test_an_attribute_reaches_the_running_index(client: TestClient) -> None:
    def known() -> int:
        count: int = client.get("/v1/index").json()["workers"][0]["stats"]["attributes"]
        return count

    before = known()
    response = client.post(ROUTE, json=NEW)
    CatalogueAttribute.model_validate(ok(response, 201))
    assert response.headers["location"] == f"{ROUTE}/page.viewability"
    eventually(lambda: known() == before + 1)


def test_an_attribute_in_use_is_held(client: TestClient, advertiser_id: int) -> None:
    client.post(ROUTE, json=NEW)
    campaign = create_campaign(client, advertiser_id, targeting="page.viewability > 0.5")
    here = f"{ROUTE}/page.viewability"
    for answer in (
        client.patch(here, json={"type": "int"}, headers={"If-Match": '"1"'}),
        client.delete(here, headers={"If-Match": '"1"'}),
    ):
        in_use = problem(answer, 409)
        assert (in_use["campaign_ids"], in_use["total"]) == ([campaign["id"]], 1)
        assert in_use["errors"][0]["code"] == "attribute.in_use"
    changed = ok(client.patch(here, json={"description": None}, headers={"If-Match": '"1"'}))
    assert (changed["description"], changed["version"]) == ("", 2)
    client.delete(f"/v1/campaigns/{campaign['id']}", headers=ANY)
    assert codes(client.delete(here), 428) == [("/if-match", "version.missing")]
    assert problem(client.delete(here, headers={"If-Match": '"1"'}), 412)["current_version"] == 2
    assert ok(client.delete(here, headers={"If-Match": '"2"'}))["rev"] > campaign["rev"]
    assert codes(client.get(here), 404) == [("", "attribute.not_found")]


def test_what_is_built_in_cannot_be_written(client: TestClient) -> None:
    built_in = [("", "attribute.built_in")]
    here = f"{ROUTE}/now.hour"
    assert codes(client.post(ROUTE, json={"name": "now.hour", "type": "int"}), 409) == built_in
    assert codes(client.patch(here, json={"type": "float"}, headers=ANY), 409) == built_in
    assert codes(client.delete(here, headers={"If-Match": '"0"'}), 409) == built_in


def test_what_is_wrong_is_told(client: TestClient) -> None:
    assert codes(client.post(ROUTE, json={"name": "and", "type": "text"}), 422) == [
        ("/name", "attribute.keyword"),
        ("/type", "attribute.type"),
    ]
    assert codes(client.post(ROUTE, json=NEW | {"name": "age"}), 409) == [("/name", "name.taken")]
    renamed = client.patch(f"{ROUTE}/age", json={"name": "years"}, headers=ANY)
    assert codes(renamed, 422) == [("/name", "field.read_only")]


def test_a_name_may_have_any_characters(client: TestClient, advertiser_id: int) -> None:
    name = "größe/x `1`"
    response = client.post(ROUTE, json={"name": name, "type": "int"})
    assert ok(response, 201)["name"] == name
    assert ok(client.get(response.headers["location"]))["name"] == name
    create_campaign(client, advertiser_id, targeting="`größe/x ``1``` > 3")
    in_use = problem(client.delete(response.headers["location"], headers=ANY), 409)
    assert in_use["errors"][0]["code"] == "attribute.in_use"
