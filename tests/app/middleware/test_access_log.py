"""The access log: writes and errors, by request id, without a token."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.middleware.access_log import MOST_PER_SECOND
from app.observability.logging import ACCESS, JsonLines
from app.settings import Settings
from tests.app.answers import eventually
from tests.app.conftest import client_of


@pytest.fixture
def client(url: str, tokens: dict[str, str]) -> Iterator[TestClient]:
    with client_of(Settings(database_url=url, access_log=True), tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        yield client


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """The lines of the access log, as they are written."""
    found: list[dict[str, Any]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(JsonLines().format(record)))

    handler = Handler()
    log = logging.getLogger(ACCESS)
    log.addHandler(handler)
    caplog.set_level(logging.INFO, ACCESS)
    yield found
    log.removeHandler(handler)


def test_a_write_and_an_error_are_a_line_each(
    client: TestClient, lines: list[dict[str, Any]], tokens: dict[str, str]
) -> None:
    created = client.post(
        "/v1/advertisers", json={"name": "Shop"}, headers={"x-request-id": "chosen"}
    )
    id = created.json()["id"]
    assert client.get(f"/v1/advertisers/{id}").status_code == 200
    missing = client.get("/v1/advertisers/999")
    assert [
        {name: line[name] for name in ("request_id", "method", "route", "status")} for line in lines
    ] == [
        {
            "request_id": "chosen",
            "method": "POST",
            "route": "create_advertiser",
            "status": 201,
        },
        {
            "request_id": missing.headers["x-request-id"],
            "method": "GET",
            "route": "read_advertiser",
            "status": 404,
        },
    ]
    assert all(line["duration_ms"] > 0 and line["key_id"] > 0 for line in lines)
    assert tokens["all"].rpartition("_")[2] not in json.dumps(lines)


def test_a_request_without_a_key_and_one_to_nowhere(
    client: TestClient, lines: list[dict[str, Any]]
) -> None:
    client.get("/v1/campaigns", headers={"Authorization": "Bearer copse_0123456789ab_secret"})
    client.get("/secret/path")
    assert [(line["route"], line["status"], line["key_id"]) for line in lines] == [
        ("none", 401, None),
        ("none", 404, lines[1]["key_id"]),
    ]
    assert "secret" not in json.dumps(lines)


def test_a_match_is_logged_only_if_it_fails(
    client: TestClient, lines: list[dict[str, Any]]
) -> None:
    assert client.post("/v1/match", json={"attributes": {}}).status_code == 200
    assert lines == []
    failed = client.post("/v1/match", json={"attributes": []})
    (line,) = lines
    assert (line["route"], line["status"]) == ("match", failed.status_code)
    assert line["request_id"] == failed.headers["x-request-id"]
    assert line["key_id"] > 0


def test_a_flood_of_errors_is_no_flood_of_lines(
    client: TestClient, lines: list[dict[str, Any]]
) -> None:
    for _ in range(MOST_PER_SECOND + 50):
        client.post("/v1/match", json={"attributes": []})
    assert len(lines) <= MOST_PER_SECOND * 2
