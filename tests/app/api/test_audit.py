"""`/v1/audit`."""

from fastapi.testclient import TestClient

from app.api.audit import ENTRY, AuditPage
from tests.app.answers import codes, ok

ROUTE = "/v1/audit"


def test_every_write_is_told_newest_first(client: TestClient, advertiser_id: int) -> None:
    here = f"/v1/advertisers/{advertiser_id}"
    patched = ok(client.patch(here, json={"name": "Other"}, headers={"If-Match": "*"}))
    client.delete(here, headers={"If-Match": "*"})
    asked = {"kind": "advertiser", "object_id": str(advertiser_id)}
    page = ok(client.get(ROUTE, params=asked))
    AuditPage.model_validate(page)
    removed, changed, created = page["items"]
    assert list(removed) == list(ENTRY)
    assert [entry["action"] for entry in page["items"]] == ["delete", "patch", "create"]
    assert (created["before"], removed["after"]) == (None, None)
    assert (changed["before"], changed["after"]) == (created["after"], patched)
    assert changed["rev"] == patched["rev"]
    assert removed["rev"] == patched["rev"] + 1

    second = ok(client.get(ROUTE, params={**asked, "limit": 2}))
    assert second["items"] == [removed, changed]
    third = ok(client.get(ROUTE, params={**asked, "limit": 2, "cursor": second["next_cursor"]}))
    assert third == {"items": [created], "next_cursor": None}


def test_nothing_of_a_secret_is_in_it(client: TestClient, tokens: dict[str, str]) -> None:
    told = client.get(ROUTE, params={"kind": "key", "limit": 1000}).text
    assert tokens["all"].split("_")[1] in told
    assert "secret" not in told
    assert tokens["all"].split("_", 2)[2] not in told


def test_a_filter_that_is_not_known_is_refused(client: TestClient) -> None:
    assert codes(client.get(ROUTE, params={"who": "me"}), 422)[0][0] == "/who"
