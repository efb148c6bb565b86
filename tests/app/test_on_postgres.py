"""The service on Postgres and Redis: the same routes, and what happens when a server goes away."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from redis import Redis

from app.cli import main
from app.settings import Settings
from campaigns.keys.model import SCOPES, hash_of
from migrations.run import upgrade
from testkit.servers import PostgresServer, RedisServer, postgres_server
from tests.app.answers import codes, eventually, ok
from tests.app.conftest import bearer, client_of, make_keys, on_store

NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    """A Postgres that can be stopped without harm to others."""
    with postgres_server() as server:
        upgrade(server.url)
        yield server


@pytest.fixture
def client(own_postgres: PostgresServer, redis: RedisServer) -> Iterator[TestClient]:
    tokens = on_store(own_postgres.url, make_keys)
    settings = Settings(database_url=own_postgres.url, redis_url=redis.url)
    with client_of(settings, tokens["all"]) as client:
        yield client


def worker(client: TestClient) -> Any:
    return ok(client.get("/v1/index"))["workers"][0]


def test_a_campaign_goes_all_the_way_into_the_index_and_out(client: TestClient) -> None:
    key = {"Idempotency-Key": "shop"}
    owner = ok(client.post("/v1/advertisers", json={"name": "Shop"}, headers=key), 201)["id"]
    again = client.post("/v1/advertisers", json={"name": "Shop"}, headers=key)
    assert (ok(again, 201)["id"], again.headers["idempotent-replayed"]) == (owner, "true")
    body = {"advertiser_id": owner, "name": "Spring", "targeting": "country = 'US'"}
    campaign = ok(client.post("/v1/campaigns", json=body), 201)
    here = f"/v1/campaigns/{campaign['id']}"
    ok(client.post(f"{here}/activate"))
    eventually(lambda: worker(client)["campaigns"] == 1)
    assert "stream" in worker(client)["applied"]
    changed = ok(client.patch(here, json={"bid_micros": 5}, headers={"If-Match": '"2"'}))
    assert changed["version"] == 3
    assert codes(client.patch(here, json={}, headers={"If-Match": '"2"'}), 412)
    assert codes(client.post("/v1/campaigns", json={"targeting": "contry"}), 422)
    line = b'{"external_id": "x", "advertiser_id": %d, "name": "X", "status": "active"}\n' % owner
    imported = client.post("/v1/campaigns/import", content=line * 2, headers=NDJSON)
    assert '"outcome":"created"' in imported.text
    assert '"outcome":"unchanged"' in imported.text
    eventually(lambda: worker(client)["campaigns"] == 2)
    listed = ok(client.get("/v1/campaigns", params={"text": "spring", "status": "active"}))
    assert [item["id"] for item in listed["items"]] == [campaign["id"]]
    ok(client.post(f"{here}/archive"))
    eventually(lambda: worker(client)["campaigns"] == 1)
    ok(client.delete(here, headers={"If-Match": "*"}))
    history = ok(client.get("/v1/audit", params={"kind": "campaign", "object_id": campaign["id"]}))
    actions = [entry["action"] for entry in history["items"]]
    assert actions == ["delete", "archive", "patch", "activate", "create"]


def test_a_key_that_was_forged_in_redis_opens_nothing(
    client: TestClient, redis: RedisServer
) -> None:
    """A change that continues the stream, by somebody who can read and write all of Redis."""
    rev = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)["rev"]
    name = f"copse:{worker(client)['epoch']}"
    key = {
        "id": 999,
        "prefix": "0123456789ab",
        "secret_hash": hash_of("secret"),
        "scopes": SCOPES,
        "expires_at": None,
        "revoked": False,
    }
    with Redis.from_url(redis.url) as attacker:
        eventually(lambda: bool(attacker.xrange(name, f"{rev}-0")))
        ((_, last),) = attacker.xrevrange(name, count=1)
        forged = dict(last) | {
            b"kind": b"key",
            b"object_id": b"999",
            b"nonce": b"0123456789abcdef",
            b"previous": last[b"nonce"],
            b"payload": json.dumps(key).encode(),
        }
        attacker.xadd(name, forged, f"{rev + 1}-0")
    token = bearer("copse_0123456789ab_secret")
    end = time.monotonic() + 1  # the log is read by then
    while time.monotonic() < end:
        answer = client.post("/v1/advertisers", json={"name": "Evil"}, headers=token)
        assert codes(answer, 401) == [("/authorization", "key.unknown")]
    eventually(lambda: "foreign" in worker(client)["resyncs"])
    applied = worker(client)["applied"].get("stream", 0)

    def streams_again() -> bool:
        ok(client.post("/v1/advertisers", json={"name": "More"}), 201)
        return bool(worker(client)["applied"].get("stream", 0) > applied)

    eventually(streams_again)
    eventually(lambda: worker(client)["failing"] == [])


def test_without_the_database_it_says_so_goes_on_and_recovers(
    client: TestClient, own_postgres: PostgresServer
) -> None:
    ok(client.get("/v1/campaigns"))
    own_postgres.stop()
    try:
        answer = client.get("/v1/campaigns")
        assert codes(answer, 503) == [("", "database.unavailable")]
        assert answer.headers["retry-after"] == "1"
        assert str(own_postgres.port) not in answer.text
        assert codes(client.post("/v1/advertisers", json={"name": "x"}), 503)
        assert codes(client.post("/v1/campaigns/import", content=b"{}", headers=NDJSON), 503)
        eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] > 1)
        assert client.get("/healthz/ready").status_code == 200
        assert "log" in worker(client)["failing"]
    finally:
        own_postgres.start()
    eventually(lambda: client.get("/v1/campaigns").status_code == 200)
    created = ok(client.post("/v1/advertisers", json={"name": "Back"}), 201)
    eventually(lambda: bool(worker(client)["rev"] >= created["rev"]))
    eventually(lambda: client.get("/healthz/ready").json()["stale_seconds"] == 0)


def test_a_database_that_goes_away_during_an_import_fails_its_lines(
    client: TestClient, own_postgres: PostgresServer
) -> None:
    owner = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)["id"]

    def lines() -> Iterator[bytes]:
        for n in range(2):
            if n == 1:
                own_postgres.stop()
            yield b"".join(
                b'{"external_id": "%d-%d", "advertiser_id": %d, "name": "X"}\n' % (n, m, owner)
                for m in range(500)
            )

    try:
        answer = client.post("/v1/campaigns/import", content=lines(), headers=NDJSON)
    finally:
        own_postgres.start()
    found = answer.text.splitlines()
    assert len(found) == 1000
    assert all("database.unavailable" in line for line in found[500:])


def test_a_database_without_tables_says_what_to_do(
    own_postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Postgres's own database for templates: it can be read, and has no tables of ours.
    monkeypatch.setenv("COPSE_DATABASE_URL", own_postgres.url_of("template1"))
    for command in (["key", "list"], ["serve", "--port", "0"]):
        assert main(command) == 1
        assert "copse migrate" in capsys.readouterr().err
