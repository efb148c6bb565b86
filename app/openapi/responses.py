"""The requests and responses of a route on the OpenAPI page, with an example for each.

The problems on the page are made from the errors that the routes raise, so they cannot differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import HTTPException
from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from app.errors.http_errors import (
    Encoded,
    HttpError,
    Invalid,
    MalformedJson,
    NotAllowed,
    NotAuthenticated,
    NotReady,
    RateExceeded,
    WrongMediaType,
)
from app.errors.problems import MEDIA_TYPE, Problem, item
from app.errors.store_errors import WRONG_REQUEST, headers_of, problem_of
from app.middleware.body_limit import too_large
from campaigns.errors import CampaignsError, DatabaseUnavailable

Responses = dict[int | str, dict[str, Any]]

MODEL = "x-model"
"""The key of the model's name in a schema, until the document is completed."""

_HEADERS = {
    "ETag": ("the version in quotes, for If-Match", '"4"'),
    "Location": ("the URL of the new object", "/v1/campaigns/1"),
    "Idempotent-Replayed": (
        "true: the response to the first request with this key",
        "true",
    ),
    "Retry-After": ("seconds to wait before the next attempt", "1"),
    "Accept-Encoding": ("allowed encodings of a body: none", "identity"),
    "WWW-Authenticate": ("the expected authentication", 'Bearer realm="copse"'),
}

_KEY: dict[str, Exception] = {
    "no_key": NotAuthenticated("key.missing", "The request has no API key."),
    "wrong_key": NotAuthenticated("key.unknown", "This API key does not exist or is revoked."),
    "expired_key": NotAuthenticated("key.expired", "This API key has expired."),
    "too_many_requests": RateExceeded(500, 1),
    "loading": NotReady(25_000, 100_000),
}
_STORE: dict[str, Exception] = {"database_unavailable": DatabaseUnavailable("")}
_BODY: dict[str, Exception] = {
    "not_json": MalformedJson("Expecting value", 9),
    "too_large": too_large(),
    "not_declared_as_json": WrongMediaType("text/plain"),
    "compressed": Encoded("gzip"),
    "no_body": Invalid(WRONG_REQUEST, item("", "request.missing", "Field required")),
}


@dataclass(frozen=True)
class Described:
    """Marks a body that the store checks; the model only describes it.

    So each rule is in one place, for requests and for the lines of an import, and the response
    lists all errors. A test checks that the model agrees with the store.
    """

    model: type[BaseModel]

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(self.model.__pydantic_core_schema__)
        return {**schema, MODEL: self.model.__name__}


def wrong_parameter(name: str, code: str, detail: str) -> Invalid:
    """Pydantic's error for a parameter, for the page."""
    return Invalid(WRONG_REQUEST, item(f"/{name}", f"request.{code}", detail))


WRONG_ID = wrong_parameter("id", "greater_than_equal", "Input should be greater than or equal to 1")
WRONG_LIMIT = wrong_parameter(
    "limit", "less_than_equal", "Input should be less than or equal to 1000"
)


def answers(
    example: Any,
    *headers: str,
    scope: str | None,
    status: int = 200,
    body: bool = False,
    store: bool = True,
    media_type: str = "application/json",
    errors: Mapping[str, Exception] = MappingProxyType({}),
) -> Responses:
    """The `responses` of a route: its own, and the errors by their status. Its own `errors` replace
    common ones of the same name."""
    responses: Responses = {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {media_type: {"example": example}},
            **_headers(headers),
        }
    }
    scoped: dict[str, Exception] = {"wrong_scope": NotAllowed(scope)} if scope else {}
    common = _KEY | scoped | (_STORE if store else {}) | (_BODY if body else {})
    return responses | documented(**{**common, **errors})


def documented(**errors: Exception) -> Responses:
    """Errors as the `responses` of a route."""
    responses: Responses = {}
    for name, error in errors.items():
        problem, headers = problem_from(error)
        response = responses.setdefault(
            problem.status,
            {
                "description": HTTPStatus(problem.status).phrase,
                "content": {MEDIA_TYPE: {"schema": {"anyOf": []}, "examples": {}}},
                **_headers(tuple(headers)),
            },
        )
        content = response["content"][MEDIA_TYPE]
        reference = {"$ref": f"#/components/schemas/{type(problem).__name__}"}
        if reference not in content["schema"]["anyOf"]:
            content["schema"]["anyOf"].append(reference)
        content["examples"][name] = {
            "summary": problem.detail,
            "value": problem.model_dump(mode="json"),
        }
    return responses


def problem_from(error: Exception) -> tuple[Problem, Mapping[str, str]]:
    """The problem for an error, and the headers of the response."""
    if isinstance(error, HttpError):
        return error.problem(), error.headers
    if isinstance(error, HTTPException):
        title = HTTPStatus(error.status_code).phrase
        return Problem(title=title, status=error.status_code, detail=error.detail), {}
    assert isinstance(error, CampaignsError), error
    return problem_of(error), headers_of(error)


def _headers(names: tuple[str, ...]) -> dict[str, Any]:
    if not names:
        return {}
    described = {}
    for name in names:
        description, example = _HEADERS[name]
        described[name] = {
            "description": description,
            "schema": {"type": "string"},
            "example": example,
        }
    return {"headers": described}
