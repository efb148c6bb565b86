"""Every error leaves as problem details."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.errors import handlers
from app.errors.http_errors import MalformedJson, WrongMediaType
from app.errors.problems import pointer_to
from app.main import create_service
from app.middleware.body_limit import too_large
from app.openapi.responses import problem_from
from app.settings import Settings
from tests.app.answers import problem
from tests.app.conftest import bearer

ROUTE = "/v1/expressions/validate"
JSON = {"content-type": "application/json"}


def shown(error: Exception) -> Any:
    """The problem that the OpenAPI page shows for an error."""
    return problem_from(error)[0].model_dump(mode="json")


def test_an_unknown_path_is_404(client: TestClient) -> None:
    answer = problem(client.get("/v1/{nothing}"), 404)
    assert "nothing" in answer["detail"]
    assert answer["errors"] == []


def test_a_wrong_method_is_405_and_says_which_are_right(client: TestClient) -> None:
    response = client.get(ROUTE)
    problem(response, 405)
    assert response.headers["allow"] == "POST"
    response = client.put("/v1/campaigns/7")
    problem(response, 405)
    assert response.headers["allow"] == "DELETE, GET, PATCH"
    assert client.patch("/v1/campaigns/import").headers["allow"] == "POST"
    assert client.post("/docs").headers["allow"] == "GET"


def test_malformed_json_is_400_with_its_place(client: TestClient) -> None:
    answer = problem(client.post(ROUTE, content=b'{"text": tru', headers=JSON), 400)
    assert answer == shown(MalformedJson("Expecting value", 9))


@pytest.mark.parametrize("body", [b"\xff\xfe{", b"[" * 100_000, b'{"text": ' + b"9" * 5000 + b"}"])
def test_unreadable_json_is_400(client: TestClient, body: bytes) -> None:
    problem(client.post(ROUTE, content=body, headers=JSON), 400)


def test_a_body_that_is_not_declared_as_json_is_415(client: TestClient) -> None:
    answer = problem(client.post(ROUTE, content="{}", headers={"content-type": "text/plain"}), 415)
    assert answer == shown(WrongMediaType("text/plain"))
    assert "the request has none" in problem(client.post(ROUTE, content="{}"), 415)["detail"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"{}", [("/text", "request.missing")]),
        (b"[]", [("", "request.model_attributes_type")]),
        (b"", [("", "request.missing")]),
        (b'{"text": 1, "attributes": []}', [("/text", "request.string_type")]),
        (
            b'{"text": "true", "attributes": [], "a/b~": 1}',
            [("/a~1b~0", "field.unknown")],
        ),
    ],
)
def test_each_wrong_field_is_pointed_at(
    client: TestClient, body: bytes, expected: list[tuple[str, str]]
) -> None:
    answer = problem(client.post(ROUTE, content=body, headers=JSON), 422)
    assert [(error["pointer"], error["code"]) for error in answer["errors"]] == expected


def test_a_large_body_is_413_whether_it_declares_its_length_or_not(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(5):
            yield b" " * 64 * 1024

    declared = client.post(ROUTE, content=b" " * (256 * 1024 + 1), headers=JSON)
    assert problem(declared, 413) == shown(too_large())
    problem(client.post(ROUTE, content=chunks(), headers=JSON), 413)


def test_a_body_of_exactly_the_limit_is_read(client: TestClient) -> None:
    body = b'{"text": "true", "attributes": []}'
    padded = body + b" " * (256 * 1024 - len(body))
    assert client.post(ROUTE, content=padded, headers=JSON).status_code == 200


def test_a_bug_is_500_and_tells_nothing_of_itself() -> None:
    app = FastAPI()
    handlers.install(app)

    @app.get("/bug")
    async def bug() -> None:
        raise RuntimeError("the secret")

    client = TestClient(app, raise_server_exceptions=False)
    assert "secret" not in str(problem(client.get("/bug"), 500))


def test_pointers_escape_what_rfc_6901_says() -> None:
    assert pointer_to(()) == ""
    assert pointer_to(("attributes", 3, "name")) == "/attributes/3/name"
    assert pointer_to(("a/b", "c~d")) == "/a~1b/c~0d"


def test_every_answer_has_the_id_of_its_request(url: str, tokens: dict[str, str]) -> None:
    settings = Settings(database_url=url)
    with TestClient(create_service(settings), headers=bearer(tokens["all"])) as client:
        for path in ("/healthz/live", "/v1/campaigns", "/nothing", "/docs"):
            made = client.get(path).headers["x-request-id"]
            assert re.fullmatch("[0-9a-f]{16}", made)
            assert (
                client.get(path, headers={"X-Request-Id": "a-1"}).headers["x-request-id"] == "a-1"
            )
            strange = {"X-Request-Id": "a b"}
            assert client.get(path, headers=strange).headers["x-request-id"] not in ("a b", made)
