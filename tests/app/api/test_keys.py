"""`/v1/keys`."""

from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient

from app.api.keys import KEY, CreatedKey, KeyList
from tests.app.answers import codes, eventually, ok
from tests.app.conftest import bearer

ROUTE = "/v1/keys"


def test_a_new_key_works_until_it_is_revoked_and_its_token_is_shown_once(
    client: TestClient,
) -> None:
    answer = client.post(ROUTE, json={"name": "Ada", "scopes": ["campaigns:read"]})
    made = ok(answer, 201)
    CreatedKey.model_validate(made)
    assert answer.headers["cache-control"] == "no-store"
    assert set(made) == {*KEY, "token"}
    theirs = bearer(made["token"])
    eventually(lambda: client.get("/v1/campaigns", headers=theirs).status_code == 200)
    assert codes(client.get(ROUTE, headers=theirs), 403) == [("/authorization", "key.scope")]
    me = ok(client.get(f"{ROUTE}/current", headers=theirs))
    assert (me["name"], me["scopes"], me["id"]) == ("Ada", ["campaigns:read"], made["id"])

    listed = client.get(ROUTE)
    KeyList.model_validate(ok(listed))
    assert made["token"].split("_", 2)[2] not in listed.text
    assert "secret" not in listed.text
    (row,) = [each for each in ok(listed)["items"] if each["id"] == made["id"]]
    assert row["revoked_at"] is None

    revoked = ok(client.post(f"{ROUTE}/{made['id']}/revoke"))
    assert revoked["revoked_at"] is not None
    assert ok(client.post(f"{ROUTE}/{made['id']}/revoke")) == revoked
    eventually(lambda: client.get("/v1/campaigns", headers=theirs).status_code == 401)


def test_the_audit_log_names_the_key_that_did_it(client: TestClient) -> None:
    fields = {"name": "admin", "scopes": ["keys:write", "match"]}
    admin = ok(client.post(ROUTE, json=fields), 201)
    theirs = bearer(admin["token"])
    eventually(lambda: client.get(ROUTE, headers=theirs).status_code == 200)
    made = ok(client.post(ROUTE, json={"name": "x", "scopes": ["match"]}, headers=theirs), 201)
    ok(client.post(f"{ROUTE}/{made['id']}/revoke", headers=theirs))
    asked = {"kind": "key", "object_id": str(made["id"])}
    told = client.get("/v1/audit", params=asked)
    assert [each["action"] for each in ok(told)["items"]] == ["revoke", "create"]
    for entry in ok(told)["items"]:
        assert (entry["actor"], entry["actor_name"]) == (f"key:{admin['prefix']}", "admin")
    assert made["token"].split("_", 2)[2] not in told.text


def test_without_a_key_the_audit_log_has_no_name(client: TestClient) -> None:
    (entry,) = ok(client.get("/v1/audit", params={"actor": "test", "limit": 1}))["items"]
    assert entry["actor_name"] is None


def test_a_key_cannot_hand_out_what_it_does_not_have(
    client: TestClient, tokens: dict[str, str]
) -> None:
    theirs = bearer(tokens["keys:write"])
    for scopes in (["campaigns:write"], ["keys:write", "stats:write"]):
        refused = client.post(ROUTE, json={"name": "x", "scopes": scopes}, headers=theirs)
        assert codes(refused, 403) == [("/authorization", "key.scope")]
    ok(client.post(ROUTE, json={"name": "x", "scopes": ["keys:write"]}, headers=theirs), 201)


def test_everything_wrong_is_reported(client: TestClient) -> None:
    past = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    fields = {"scopes": [], "expires_at": past, "rate": 0, "prefix": "x"}
    assert sorted(codes(client.post(ROUTE, json=fields), 422)) == [
        ("/expires_at", "moment.past"),
        ("/name", "field.missing"),
        ("/prefix", "field.read_only"),
        ("/rate", "integer.range"),
        ("/scopes", "list.empty"),
    ]
    wrong = client.post(ROUTE, json={"name": "x", "scopes": ["all"]})
    assert codes(wrong, 422) == [("/scopes/0", "value.unknown")]
    wrong = client.post(ROUTE, json={"name": "x", "scopes": [["match"]]})
    assert codes(wrong, 422) == [("/scopes/0", "type.string")]
    assert codes(client.post(f"{ROUTE}/99/revoke"), 404) == [("", "key.not_found")]
