"""The route × scope table: every route of the OpenAPI document, with every kind of key."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.middleware.authentication import is_open
from app.middleware.scopes import SCHEME
from app.settings import Settings
from campaigns.keys.model import SCOPES
from tests.app.answers import codes
from tests.app.conftest import Template, bearer

READ, WRITE = "campaigns:read", "campaigns:write"
ANY: None = None

TABLE: dict[str, str | None] = {
    "POST /v1/campaigns": WRITE,
    "GET /v1/campaigns": READ,
    "POST /v1/campaigns/preview": READ,
    "POST /v1/campaigns/import": WRITE,
    "GET /v1/campaigns/export": READ,
    "GET /v1/campaigns/{id}": READ,
    "PATCH /v1/campaigns/{id}": WRITE,
    "DELETE /v1/campaigns/{id}": WRITE,
    "POST /v1/campaigns/{id}/activate": WRITE,
    "POST /v1/campaigns/{id}/pause": WRITE,
    "POST /v1/campaigns/{id}/archive": WRITE,
    "POST /v1/campaigns/{id}/preview": READ,
    "GET /v1/campaigns/{id}/delivery": READ,
    "GET /v1/delivery": READ,
    "GET /v1/requests": READ,
    "POST /v1/advertisers": WRITE,
    "GET /v1/advertisers": READ,
    "GET /v1/advertisers/{id}": READ,
    "PATCH /v1/advertisers/{id}": WRITE,
    "DELETE /v1/advertisers/{id}": WRITE,
    "POST /v1/advertisers/{id}/pause": WRITE,
    "POST /v1/advertisers/{id}/resume": WRITE,
    "POST /v1/expressions/validate": READ,
    "GET /v1/expressions/words": ANY,
    "GET /v1/attributes": ANY,
    "POST /v1/attributes": WRITE,
    "GET /v1/attributes/{name}": ANY,
    "PATCH /v1/attributes/{name}": WRITE,
    "DELETE /v1/attributes/{name}": WRITE,
    "GET /v1/operators": READ,
    "POST /v1/operators": WRITE,
    "GET /v1/operators/{name}": READ,
    "PATCH /v1/operators/{name}": WRITE,
    "DELETE /v1/operators/{name}": WRITE,
    "GET /v1/statistics": READ,
    "GET /v1/statistics/{id}": READ,
    "POST /v1/statistics/{id}/activate": "stats:write",
    "POST /v1/statistics/roll-back": "stats:write",
    "POST /v1/forecast": READ,
    "POST /v1/match": "match",
    "POST /v1/match/batch": "match",
    "POST /v1/openrtb": "match",
    "POST /v1/explain": READ,
    "GET /v1/index": ANY,
    "GET /metrics": ANY,
    "GET /v1/audit": "audit:read",
    "POST /v1/keys": "keys:write",
    "GET /v1/keys": "keys:write",
    "GET /v1/keys/current": ANY,
    "POST /v1/keys/{id}/revoke": "keys:write",
}


def operations() -> Iterator[tuple[str, Any]]:
    """What the OpenAPI document has: `METHOD path`, and the operation."""
    for path, methods in create_app(Settings()).openapi()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_route_is_in_the_table_or_open() -> None:
    closed = {name for name, _ in operations() if not is_open(name.partition(" ")[2])}
    assert closed == set(TABLE)
    assert {name for name, _ in operations()} - closed == {
        "GET /healthz/live",
        "GET /healthz/ready",
    }


def test_the_document_says_which_scope_a_route_needs() -> None:
    for name, operation in operations():
        if name in TABLE:
            needed = TABLE[name]
            assert operation["security"] == [{SCHEME: [needed] if needed else []}], name
        else:
            assert "security" not in operation, name


def ask(client: TestClient, name: str, token: str | None) -> Any:
    """Ask for nothing that there is, with the key and with nothing else."""
    method, _, path = name.partition(" ")
    headers = bearer(token) if token is not None else {}
    return client.request(method, path.format(id=99, name="none"), headers=headers)


@pytest.fixture(scope="module")
def client(template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One for all: nothing here is ever written."""
    copied = shutil.copy(template.path, tmp_path_factory.mktemp("scopes"))
    with TestClient(create_app(Settings(database_url=f"sqlite:///{copied}"))) as client:
        yield client


@pytest.mark.parametrize("name", TABLE)
def test_a_route_takes_the_keys_that_it_should_and_no_others(
    client: TestClient, tokens: dict[str, str], name: str
) -> None:
    needed = TABLE[name]
    missing = ask(client, name, None)
    assert codes(missing, 401) == [("/authorization", "key.missing")]
    assert missing.headers["www-authenticate"] == 'Bearer realm="copse"'
    for token in (tokens["revoked"], tokens["all"][:-1], "copse_none_none", "nonsense"):
        refused = ask(client, name, token)
        assert refused.status_code == 401
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    for scope in SCOPES:
        answer = ask(client, name, tokens[scope])
        if needed in (scope, ANY):
            assert answer.status_code not in (401, 403), answer.text
            assert answer.status_code < 500
        else:
            assert codes(answer, 403) == [("/authorization", "key.scope")]
            assert f'scope="{needed}"' in answer.headers["www-authenticate"]


def test_a_key_for_matching_can_never_write() -> None:
    asks = {name for name, scope in TABLE.items() if scope == "match"}
    assert asks == {"POST /v1/match", "POST /v1/match/batch", "POST /v1/openrtb"}
    writes = [name for name in TABLE if not name.startswith("GET ") and name not in asks]
    reads = ("preview", "validate", "explain", "forecast")
    scopes = {TABLE[name] for name in writes if not name.endswith(reads)}
    assert scopes == {WRITE, "stats:write", "keys:write"}
