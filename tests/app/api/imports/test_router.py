"""`POST /v1/campaigns/import`, on a real server: it answers while it reads."""

import http.client
import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from app.api.imports.pipeline import BATCH_LINES
from app.api.imports.router import PATH
from campaigns.keys import service as keys
from campaigns.keys.model import NewKey
from tests.app.answers import codes, eventually, ok
from tests.app.conftest import Template, bearer, on_store
from tests.app.serving import Served, serving

NDJSON = {"content-type": "application/x-ndjson"}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def results(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in response.text.splitlines()]
    named = ["line", "outcome", "external_id", "id", "version", "rev"]
    names = [*named, "changes", "warnings", "errors"]
    assert all(list(result) == names for result in found)
    return found


def test_good_lines_are_kept_and_bad_ones_are_told(client: TestClient, advertiser_id: int) -> None:
    body = lines(
        {"external_id": "a", "advertiser_id": advertiser_id, "name": "A", "status": "active"},
        {"external_id": "b", "advertiser_id": 99, "name": "B"},
        {"external_id": "c", "advertiser_id": advertiser_id, "name": "C", "targeting": "contry"},
        ["no", "object"],
    )
    body += b'{"external_id": "d", \n\n'
    body += b'"' + b"x" * (256 * 1024) + b'"\n'
    body += lines({"advertiser_id": advertiser_id, "name": "E", "colour": "red", "id": 5})
    body += lines({"external_id": "a", "bid_micros": 7}).rstrip()
    found = results(client.post(PATH, content=body, headers=NDJSON))
    assert [result["line"] for result in found] == [1, 2, 3, 4, 5, 7, 8, 9]
    assert [result["outcome"] for result in found] == ["created", *["failed"] * 6, "updated"]
    failed = [[(e["pointer"], e["code"]) for e in r["errors"]] for r in found[1:-1]]
    assert failed == [
        [("/advertiser_id", "advertiser.unknown")],
        [("/targeting", "attribute.unknown")],
        [("", "type.object")],
        [("", "json.malformed")],
        [("", "line.long")],
        [("/colour", "field.unknown"), ("/id", "field.read_only")],
    ]
    assert "^^^^^^" in found[2]["errors"][0]["caret"]
    (campaign,) = ok(client.get("/v1/campaigns"))["items"]
    assert (campaign["status"], campaign["bid_micros"]) == ("active", 7)
    assert (campaign["id"], campaign["version"]) == (found[-1]["id"], found[-1]["version"])


def test_an_import_can_be_repeated(client: TestClient, advertiser_id: int) -> None:
    rows = [
        {"external_id": f"x{n}", "advertiser_id": advertiser_id, "name": f"X{n}"}
        for n in range(2 * BATCH_LINES + 7)
    ]
    first = results(client.post(PATH, content=lines(*rows), headers=NDJSON))
    assert {result["outcome"] for result in first} == {"created"}
    assert [result["external_id"] for result in first] == [row["external_id"] for row in rows]
    again = results(client.post(PATH, content=lines(*rows), headers=NDJSON))
    assert {result["outcome"] for result in again} == {"unchanged"}
    assert [result["id"] for result in again] == [result["id"] for result in first]


def test_the_last_line_about_a_campaign_wins_across_batches(
    client: TestClient, advertiser_id: int
) -> None:
    rows = [
        {"external_id": "one", "advertiser_id": advertiser_id, "name": f"name {n}"}
        for n in range(3 * BATCH_LINES)
        if n % 100 == 0
    ]
    padding = [{"colour": "red"}] * 100
    body = b"".join(lines(row, *padding) for row in rows)
    results(client.post(PATH, content=body, headers=NDJSON))
    (campaign,) = ok(client.get("/v1/campaigns"))["items"]
    assert campaign["name"] == rows[-1]["name"]


@pytest.mark.parametrize("kind", ["application/json", "text/plain", None])
def test_anything_but_ndjson_is_refused(client: TestClient, kind: str | None) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = client.post(PATH, content=b"{}\n", headers=headers)
    assert codes(answer, 415) == []


def test_nothing_is_answered_with_nothing(client: TestClient) -> None:
    assert results(client.post(PATH, content=b"", headers=NDJSON)) == []


# On a real server.


@pytest.fixture(scope="module")
def served_url(template: Template, tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{shutil.copy(template.path, tmp_path_factory.mktemp('served'))}"


@pytest.fixture(scope="module")
def served(served_url: str) -> Iterator[Served]:
    with serving(COPSE_DATABASE_URL=served_url) as served:
        yield served


@pytest.fixture(scope="module")
def owner(served: Served, template: Template) -> int:
    headers = bearer(template.tokens["all"])
    answer = httpx2.post(f"{served.url}/v1/advertisers", json={"name": "Shop"}, headers=headers)
    id: int = answer.json()["id"]
    return id


def connect(served: Served, token: str) -> http.client.HTTPConnection:
    """A connection in the middle of a chunked request."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.putrequest("POST", PATH)
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Type", "application/x-ndjson")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    return connection


def send(connection: http.client.HTTPConnection, content: bytes) -> None:
    connection.send(b"%x\r\n%s\r\n" % (len(content), content))


def test_it_answers_while_the_rest_still_comes(
    served: Served, tokens: dict[str, str], owner: int
) -> None:
    connection = connect(served, tokens["all"])
    send(connection, lines({"advertiser_id": owner, "name": "first"}) + b'{"advertiser_id": ')
    response = connection.getresponse()
    assert json.loads(response.readline())["outcome"] == "created"
    send(connection, b'%d, "name": "second"}\n' % owner)
    assert json.loads(response.readline())["line"] == 2
    connection.send(b"0\r\n\r\n")
    assert response.read() == b""
    connection.close()


def test_who_sends_everything_before_reading_anything_is_served_and_others_meanwhile(
    served: Served, tokens: dict[str, str]
) -> None:
    """The answers are longer than all buffers between us, so they have to wait on our side."""
    body = b'{"colour": "red", "flavour": "sweet", "sound": "loud"}\n' * 60_000
    slowest = 0.0
    done = threading.Event()
    found: list[bytes] = []

    def import_all() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.request("POST", PATH, body, bearer(tokens["all"]) | NDJSON)
        found.append(connection.getresponse().read())
        connection.close()
        done.set()

    thread = threading.Thread(target=import_all)
    thread.start()
    with httpx2.Client() as client:
        while not done.wait(0.02):
            began = time.monotonic()
            assert client.get(f"{served.url}/healthz/live").status_code == 200
            slowest = max(slowest, time.monotonic() - began)
    thread.join()
    assert found[0].count(b"\n") == 60_000
    assert json.loads(found[0].splitlines()[-1])["line"] == 60_000
    assert slowest < 1.0


def test_a_client_that_goes_away_leaves_whole_lines_behind(
    served: Served, tokens: dict[str, str], owner: int
) -> None:
    headers = bearer(tokens["all"])
    connection = connect(served, tokens["all"])
    send(connection, lines({"external_id": "whole", "advertiser_id": owner, "name": "whole"}))
    assert json.loads(connection.getresponse().readline())["outcome"] == "created"
    send(connection, b'{"external_id": "half", "advertiser_id": %d, "name": "half"}' % owner)
    assert connection.sock is not None
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()

    def names() -> list[str]:
        page = httpx2.get(f"{served.url}/v1/campaigns", headers=headers).json()
        return [item["name"] for item in page["items"] if item["external_id"]]

    eventually(lambda: names() == ["whole"])
    assert httpx2.get(f"{served.url}/healthz/ready").status_code == 200


def new_key(served: Served, url: str, **fields: Any) -> NewKey:
    """A key that the service knows."""
    fields |= {"name": "importer", "scopes": ["campaigns:write"]}
    new = on_store(url, lambda store: keys.create(store, "test", fields))
    headers = bearer(new.token)
    route = f"{served.url}/v1/index"
    eventually(lambda: httpx2.get(route, headers=headers).status_code == 200)
    return new


def test_an_import_whose_key_is_revoked_stops(served: Served, served_url: str, owner: int) -> None:
    """The client sends on for a second, and reads only then."""
    new = new_key(served, served_url)
    connection = connect(served, new.token)
    row = lines({"advertiser_id": owner, "name": "one of many"})
    send(connection, row * BATCH_LINES)
    response = connection.getresponse()
    assert json.loads(response.readline())["outcome"] == "created"
    on_store(served_url, lambda store: keys.revoke(store, "test", new.key.id))
    end = time.monotonic() + 1
    while time.monotonic() < end:
        send(connection, row * 100)
        time.sleep(0.02)
    send(connection, row * BATCH_LINES + b"too late\n")
    connection.send(b"0\r\n\r\n")
    *found, last = [json.loads(line) for line in response.read().splitlines()]
    connection.close()
    assert {result["outcome"] for result in found} == {"created"}
    assert [result["line"] for result in found] == list(range(2, last["line"]))
    assert (last["outcome"], last["id"]) == ("failed", None)
    assert [error["code"] for error in last["errors"]] == ["key.unknown"]
    page = httpx2.get(f"{served.url}/v1/campaigns", headers=bearer(new.token))
    assert codes(page, 401) == [("/authorization", "key.unknown")]


def test_an_import_that_waits_for_its_client_ends_when_its_key_expires(
    served: Served, served_url: str, owner: int
) -> None:
    expires_at = datetime.now(UTC) + timedelta(seconds=2)
    new = new_key(served, served_url, expires_at=expires_at.isoformat())
    connection = connect(served, new.token)
    send(connection, lines({"advertiser_id": owner, "name": "in time"}) + b'{"advertiser')
    response = connection.getresponse()
    assert json.loads(response.readline())["outcome"] == "created"
    last = json.loads(response.readline())
    assert datetime.now(UTC) - expires_at < timedelta(seconds=2)
    assert (last["line"], last["outcome"]) == (2, "failed")
    assert [error["code"] for error in last["errors"]] == ["key.expired"]
    connection.close()


def test_a_line_with_a_suspicious_targeting_is_imported_and_warned_about(
    client: TestClient, advertiser_id: int
) -> None:
    row = {
        "external_id": "w",
        "advertiser_id": advertiser_id,
        "name": "W",
        "targeting": "device.os = 'iOS'",
    }
    dry = f"{PATH}?dry_run=true"
    [tried] = results(client.post(dry, content=lines(row), headers=NDJSON))
    [made] = results(client.post(PATH, content=lines(row), headers=NDJSON))
    assert tried["warnings"] == made["warnings"]
    assert [each["replacement"] for each in made["warnings"]] == ["'ios'"]
    [again] = results(client.post(PATH, content=lines(row), headers=NDJSON))
    assert (again["outcome"], again["warnings"]) == ("unchanged", [])
