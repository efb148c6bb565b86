"""Every route with every kind of key, from the OpenAPI document and from the application itself.

`tests/app/middleware/test_scopes.py` says which scope each route should need; here nothing is
listed but what is open, so a route that is added without a scope, or beside the document, is found.
"""

import ast
import inspect
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient
from starlette.routing import Mount, Route

import app
import campaigns
from app.main import create_app, create_service
from app.match.router import HANDLERS, SCOPE
from app.middleware.authentication import is_open
from app.middleware.scopes import SCHEME, needs
from app.settings import Settings
from campaigns.keys import model, service
from campaigns.keys.model import SCOPES
from tests.app.conftest import Template, bearer, on_store

OPEN = {"GET /healthz/live", "GET /healthz/ready"}
ANY_KEY = {
    "GET /v1/attributes",
    "GET /v1/attributes/{name}",
    "GET /v1/expressions/words",
    "GET /v1/index",
    "GET /v1/keys/current",
    "GET /metrics",
}
"""Operations that any key may use."""
UNDOCUMENTED = {"/", "/docs", "/openapi.json", "/docs/assets"}
"""Pages without data."""


def operations(application: FastAPI) -> dict[str, Any]:
    """`METHOD path` and operation of each route in the document."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in application.openapi()["paths"].items()
        for method, operation in methods.items()
    }


def scope_of(operation: Any) -> str | None:
    """The scope that an operation requires; None if any key will do."""
    ((scheme, scopes),) = operation["security"][0].items()
    assert scheme == SCHEME
    return scopes[0] if scopes else None


def registered(application: FastAPI) -> Iterator[str]:
    """`METHOD path` of each route of the application; only the path of mounts."""
    waiting = list(application.routes)
    while waiting:
        route = waiting.pop()
        inner = getattr(route, "original_router", None)
        if inner is not None:
            waiting += inner.routes
        elif isinstance(route, Route):
            in_document = getattr(route, "include_in_schema", True)
            for method in (route.methods or set()) - {"HEAD"}:
                yield f"{method} {route.path_format}" if in_document else route.path
        else:
            assert isinstance(route, Mount), f"what is this? {route!r}"
            yield route.path


def unguarded(application: FastAPI) -> set[str]:
    """Routes without a decision about access."""
    documented = operations(application)
    found = {name for name in registered(application) if name not in documented} - UNDOCUMENTED
    for name, operation in documented.items():
        if name not in OPEN and not is_guarded(name, operation):
            found.add(name)
    return found


def is_guarded(name: str, operation: Any) -> bool:
    if "security" not in operation or is_open(name.partition(" ")[2]):
        return False
    scope = scope_of(operation)
    return scope is None if name in ANY_KEY else scope in SCOPES


def test_every_route_needs_a_scope_or_is_known_to_need_none() -> None:
    assert unguarded(create_app(Settings())) == set()


def test_all_that_is_documented_is_there_and_is_looked_at() -> None:
    application = create_app(Settings())
    documented = set(operations(application))
    assert documented <= set(registered(application))
    assert {f"POST {path}" for path in HANDLERS} <= documented


def test_a_route_that_is_forgotten_is_found() -> None:
    router = APIRouter(prefix="/v1")

    @router.get("/no_caller")
    async def no_caller() -> None: ...

    @router.get("/any_caller")
    async def any_caller(_: Annotated[object, needs()]) -> None: ...

    @router.get("/misspelt")
    async def misspelt(_: Annotated[object, needs("campaigns:reed")]) -> None: ...

    @router.get("/hidden", include_in_schema=False)
    async def hidden(_: Annotated[object, needs("campaigns:read")]) -> None: ...

    application = create_app(Settings())
    application.include_router(router)
    application.mount("/mounted", FastAPI())
    found = unguarded(application)
    assert {name.rpartition("/")[2] for name in found} == {
        *("no_caller", "any_caller", "misspelt", "hidden", "mounted")
    }
    assert len(found) == 5


OPERATIONS = operations(create_app(Settings()))
NAMES = sorted(set(OPERATIONS) - OPEN)


@pytest.fixture(scope="module")
def expired(template: Template) -> str:
    """A key that has expired when the application starts."""
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    fields = {"name": "expired", "scopes": list(SCOPES), "expires_at": soon}
    made = on_store(f"sqlite:///{template.path}", lambda s: service.create(s, "test", fields))
    time.sleep(max(0.0, soon.timestamp() - time.time()))
    return made.token


@pytest.fixture(scope="module")
def client(expired: str, template: Template) -> Iterator[TestClient]:
    settings = Settings(database_url=f"sqlite:///{template.path}")
    with TestClient(create_service(settings)) as client:
        yield client


def ask(client: TestClient, name: str, headers: Any) -> Any:
    """Request an object that does not exist."""
    method, _, path = name.partition(" ")
    filled = path.format(id=99, name="none")
    return client.request(method, filled, headers=headers)


@pytest.mark.parametrize("name", NAMES)
def test_a_route_takes_keys_with_its_scope_and_no_others(
    client: TestClient, tokens: dict[str, str], name: str
) -> None:
    needed = scope_of(OPERATIONS[name])
    if name.partition(" ")[2] in HANDLERS:
        assert needed == SCOPE
    for scope in SCOPES:
        answer = ask(client, name, bearer(tokens[scope]))
        if needed in (scope, None):
            assert answer.status_code not in (401, 403), answer.text
            assert answer.status_code < 500
        else:
            assert answer.status_code == 403, answer.text


@pytest.mark.parametrize("name", NAMES)
def test_a_key_that_does_not_count_opens_nothing(
    client: TestClient, tokens: dict[str, str], expired: str, name: str
) -> None:
    good = tokens["all"]
    kind, prefix, secret = good.split("_", 2)
    other = tokens["match"].split("_", 2)
    headers: list[Any] = [
        {},
        bearer(tokens["revoked"]),
        bearer(expired),
        bearer(good[:-1]),
        bearer(good + "A"),
        bearer(good.upper()),
        bearer(f"{kind}_{other[1]}_{secret}"),
        bearer(f"{kind}_{prefix}_"),
        bearer(f"{kind}__{secret}"),
        bearer(f"{kind}_{prefix}_{model.hash_of(secret)}"),
        bearer("copse_" + "a" * 20_000),
        bearer(""),
        {"Authorization": good},
        {"Authorization": f"Basic {good}"},
        {"Authorization": f"Bearer {good} {good}"},
        {"Authorization": f"Bearer {good}".encode() + b"\xff"},
        {"Proxy-Authorization": f"Bearer {good}"},
        {"X-Api-Key": good},
        [("Authorization", f"Bearer {good}"), ("Authorization", f"Bearer {good}")],
    ]
    for each in headers:
        assert ask(client, name, each).status_code == 401, str(each)[:200]
    method, _, path = name.partition(" ")
    in_query = client.request(method, path.format(id=99, name="none"), params={"key": good})
    assert in_query.status_code == 401


def test_secrets_are_compared_in_constant_time() -> None:
    """Checks the code, not timings: `verify` is one call of `compare_digest`, and no other
    comparison in the service involves a secret."""
    (function,) = ast.parse(inspect.getsource(model.verify)).body
    assert isinstance(function, ast.FunctionDef)
    (statement,) = [node for node in function.body if not isinstance(node, ast.Expr)]
    assert ast.unparse(statement) == ("return hmac.compare_digest(hash_of(secret), secret_hash)")
    for package in (app, campaigns):
        for path in Path(package.__path__[0]).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Compare):
                    sides = " ".join(ast.unparse(side) for side in (node.left, *node.comparators))
                    assert "secret" not in sides, f"{path}: {ast.unparse(node)}"
