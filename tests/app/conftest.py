"""Applications in this process, each on a SQLite file of its own, with keys in it.

The file is migrated once, with a key for each scope, and copied for each test.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from fastapi.testclient import TestClient

from app.main import create_service
from app.settings import Settings
from campaigns.database.engine import Database
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from campaigns.store import Store
from migrations.run import upgrade
from tests.app.answers import eventually

T = TypeVar("T")

POLL_SECONDS = 0.02


def on_store(url: str, work: Callable[[Store], Awaitable[T]]) -> T:
    """Do something with the store beside the application, as another process would."""

    async def run() -> T:
        async with Database(url) as database:
            return await work(Store(database))

    return asyncio.run(run())


async def make_keys(store: Store) -> dict[str, str]:
    """A key for each scope, one for all, one for none that is left after revoking."""
    tokens = {}
    for scope in SCOPES:
        new = await key.create(store, "test", {"name": scope, "scopes": [scope]})
        tokens[scope] = new.token
    all_scopes = await key.create(store, "test", {"name": "all", "scopes": list(SCOPES)})
    tokens["all"] = all_scopes.token
    revoked = await key.create(store, "test", {"name": "revoked", "scopes": list(SCOPES)})
    await key.revoke(store, "test", revoked.key.id)
    tokens["revoked"] = revoked.token
    return tokens


@dataclass(frozen=True)
class Template:
    """A migrated file, and the tokens of the keys in it by name."""

    path: Path
    tokens: dict[str, str]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    path = tmp_path_factory.mktemp("template") / "copse.sqlite3"
    upgrade(f"sqlite:///{path}")
    return Template(path, on_store(f"sqlite:///{path}", make_keys))


@pytest.fixture
def tokens(template: Template) -> dict[str, str]:
    return template.tokens


@pytest.fixture
def url(template: Template, tmp_path: Path) -> str:
    """A database of this test's own."""
    shutil.copy(template.path, tmp_path / "copse.sqlite3")
    return f"sqlite:///{tmp_path / 'copse.sqlite3'}"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def client_of(settings: Settings, token: str) -> TestClient:
    """A client of a new service; its `with` starts and stops it."""
    service = create_service(settings)
    return TestClient(service, raise_server_exceptions=False, headers=bearer(token))


@pytest.fixture
def client(url: str, tokens: dict[str, str]) -> Iterator[TestClient]:
    """A client that may do everything."""
    settings = Settings(database_url=url, feed_poll_seconds=POLL_SECONDS)
    with client_of(settings, tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        yield client


@pytest.fixture
def advertiser_id(client: TestClient) -> int:
    answer = client.post("/v1/advertisers", json={"name": "Shop", "domain": "shop.example"})
    assert answer.status_code == 201, answer.text
    id: int = answer.json()["id"]
    return id


@pytest.fixture(scope="session")
def shared_client(
    template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    """A client of one service for all tests that leave it as it is."""
    path = shutil.copy(template.path, tmp_path_factory.mktemp("shared"))
    settings = Settings(database_url=f"sqlite:///{path}", feed_poll_seconds=POLL_SECONDS)
    with client_of(settings, template.tokens["all"]) as client:
        eventually(lambda: client.get("/healthz/ready").status_code == 200)
        yield client
