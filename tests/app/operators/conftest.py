"""Services for operators, and a Copse that may call them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.settings import Settings
from tests.app.answers import eventually, ok
from tests.app.conftest import client_of

EXAMPLE = Path(__file__).parents[3] / "docs/examples/brand_safety.py"


@pytest.fixture(scope="session")
def brand_safety() -> Iterator[str]:
    """The service of the documentation, as a process; its URL."""
    process = subprocess.Popen(
        [sys.executable, EXAMPLE, "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def calling(url: str, tokens: dict[str, str]) -> Iterator[TestClient]:
    """A client of a Copse that may call services of this machine."""
    settings = Settings(
        database_url=url, operator_hosts="127.0.0.1", feed_poll_seconds=0.02, longest_wait_ms=2000
    )
    with client_of(settings, tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        yield client


def register(client: TestClient, url: str, **fields: object) -> None:
    """Register `brand_safety`."""
    body = {
        "name": "brand_safety",
        "type": "http",
        "url": url,
        "arguments": ["string"],
        "result": "float",
        "timeout_ms": 1000,
        "budget_ms": 1500,
    }
    ok(client.post("/v1/operators", json=body | fields), 201)


def campaign(client: TestClient, targeting: str, priority: int = 0) -> int:
    """The id of an active campaign, once the index has it."""
    advertiser = ok(client.post("/v1/advertisers", json={"name": "Shop"}), 201)["id"]
    body = {"advertiser_id": advertiser, "name": "c", "targeting": targeting, "priority": priority}
    id: int = ok(client.post("/v1/campaigns", json=body), 201)["id"]
    rev = ok(client.post(f"/v1/campaigns/{id}/activate", headers={"If-Match": "*"}))["rev"]
    eventually(lambda: client.get("/v1/index").json()["workers"][0]["rev"] >= rev)
    return id


def matched(answer: dict[str, list[dict[str, int]]]) -> list[int]:
    return [each["campaign_id"] for each in answer["matches"]]
