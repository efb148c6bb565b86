"""API keys on every request."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.errors.http_errors import NotAuthenticated
from app.middleware.authentication import KnownKeys, find_key
from campaigns.feed.view import ServedKey
from campaigns.keys import service as key
from campaigns.keys.model import hash_of
from tests.app.answers import codes, eventually
from tests.app.conftest import bearer, on_store

KEYS = {
    "ab12": ServedKey(1, "ab12", hash_of("secret"), frozenset({"match"}), None),
    "cd34": ServedKey(2, "cd34", hash_of("secret"), frozenset({"match"}), 1000.0),
}


@pytest.mark.parametrize(
    "header", ["Bearer copse_ab12_secret", "bearer copse_ab12_secret", "BEARER  copse_ab12_secret "]
)
def test_a_key_is_found(header: str) -> None:
    assert find_key(KEYS, header, 0.0).id == 1


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "key.missing"),
        ("", "key.malformed"),
        ("Bearer", "key.malformed"),
        ("Bearer ", "key.malformed"),
        ("copse_ab12_secret", "key.malformed"),
        ("Basic copse_ab12_secret", "key.malformed"),
        ("Bearer token_ab12_secret", "key.malformed"),
        ("Bearer copse_ab12", "key.malformed"),
        ("Bearer copse_ab12_", "key.malformed"),
        ("Bearer copse_ab13_secret", "key.unknown"),
        ("Bearer copse_ab12_Secret", "key.unknown"),
        ("Bearer copse_ab12_secret2", "key.unknown"),
        ("Bearer copse_ab12_s\xe9cret", "key.unknown"),
        ("Bearer copse_cd34_secret", "key.expired"),
    ],
)
def test_anything_else_is_refused(header: str | None, code: str) -> None:
    with pytest.raises(NotAuthenticated) as refused:
        find_key(KEYS, header, 1000.0)
    assert refused.value.code == code


def test_a_key_works_to_the_last_moment_before_it_expires() -> None:
    assert find_key(KEYS, "Bearer copse_cd34_secret", 999.9).id == 2


def test_a_header_that_is_known_is_refused_as_soon_as_its_key_is_another() -> None:
    header, served, known = b"Bearer copse_ab12_secret", dict(KEYS), KnownKeys()
    assert known.find(served, header, 0.0) is known.find(served, header, 0.0) is KEYS["ab12"]
    served["ab12"] = ServedKey(1, "ab12", hash_of("secret"), frozenset(), None)
    assert known.find(served, header, 0.0).scopes == frozenset()
    served["ab12"] = ServedKey(1, "ab12", hash_of("another"), frozenset({"match"}), None)
    with pytest.raises(NotAuthenticated):
        known.find(served, header, 0.0)
    del served["ab12"]
    with pytest.raises(NotAuthenticated):
        known.find(served, header, 0.0)


def test_a_header_that_is_known_expires() -> None:
    header, known = b"Bearer copse_cd34_secret", KnownKeys()
    assert known.find(KEYS, header, 999.0).id == 2
    with pytest.raises(NotAuthenticated):
        known.find(KEYS, header, 1000.0)


def test_what_is_known_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnownKeys, "MOST", 2)
    known = KnownKeys()
    for spaces in range(1, 9):
        assert known.find(KEYS, b"Bearer" + b" " * spaces + b"copse_ab12_secret", 0.0).id == 1
    assert len(known._known) <= 2


def test_two_headers_are_none(client: TestClient, tokens: dict[str, str]) -> None:
    headers: Any = [("Authorization", f"Bearer {tokens['all']}")] * 2
    client.headers.pop("Authorization")
    assert codes(client.get("/v1/campaigns", headers=headers), 401)[0][1] == "key.missing"


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/healthz/live", "/healthz/ready"])
def test_pages_without_data_are_open(client: TestClient, path: str) -> None:
    client.headers.pop("Authorization")
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/v1/nothing", "/nothing", "/healthz", "/docsx", "/v1/index/"])
def test_nothing_else_is_open_not_even_what_is_not_there(client: TestClient, path: str) -> None:
    client.headers.pop("Authorization")
    assert client.get(path).status_code == 401


def test_without_a_key_nothing_of_the_body_is_read(client: TestClient) -> None:
    client.headers.pop("Authorization")
    json = {"content-type": "application/json"}
    assert client.post("/v1/campaigns", content=b"{", headers=json).status_code == 401


def test_keys_come_and_go_through_the_feed(client: TestClient, url: str) -> None:
    """Two keys live at once, so that a new one can take over from an old one."""
    client.headers.pop("Authorization")

    def works(token: str) -> bool:
        return client.get("/v1/index", headers=bearer(token)).status_code == 200

    fields = {"name": "server", "scopes": ["match"]}
    old = on_store(url, lambda store: key.create(store, "test", fields))
    eventually(lambda: works(old.token))
    new = on_store(url, lambda store: key.create(store, "test", fields))
    eventually(lambda: works(new.token))
    assert works(old.token)
    on_store(url, lambda store: key.revoke(store, "test", old.key.id))
    eventually(lambda: not works(old.token))
    assert works(new.token)


def test_a_key_expires_by_itself(client: TestClient, url: str) -> None:
    client.headers.pop("Authorization")
    soon = datetime.now(UTC) + timedelta(seconds=1)
    fields = {"name": "short", "scopes": ["match"], "expires_at": soon}
    new = on_store(url, lambda store: key.create(store, "test", fields))

    def status() -> int:
        answer: int = client.get("/v1/index", headers=bearer(new.token)).status_code
        return answer

    eventually(lambda: status() == 200)
    eventually(lambda: status() == 401)
    assert time.time() >= soon.timestamp()


def test_the_actor_in_the_audit_log_is_the_key(
    client: TestClient, tokens: dict[str, str], advertiser_id: int
) -> None:
    found = client.get("/v1/audit", params={"kind": "advertiser"}).json()["items"]
    assert [entry["actor"] for entry in found] == [f"key:{tokens['all'].split('_')[1]}"]
