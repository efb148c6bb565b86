"""The OpenAPI page: what a route takes and answers, an example for each.

Problems on the page are made from the very errors that the routes raise, so they cannot differ.
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
    Invalid,
    MalformedJson,
    NotAllowed,
    NotAuthenticated,
    NotReady,
    RateExceeded,
    Refused,
    WrongMediaType,
)
from app.errors.problems import MEDIA_TYPE, Problem, ProblemItem
from app.errors.store_errors import WRONG_REQUEST, headers_of, problem_of
from app.middleware.body_limit import too_large
from campaigns.errors import CampaignsError, DatabaseUnavailable

Responses = dict[int | str, dict[str, Any]]

MODEL = "x-model"
"""Under this name a schema says which model it is of, until the document is completed."""

_HEADERS = {
    "ETag": ("the version, in quotes: what If-Match takes", '"4"'),
    "Location": ("where it is", "/v1/campaigns/7"),
    "Idempotent-Replayed": ("true: this is the answer that the first request was given", "true"),
    "Retry-After": ("seconds", "1"),
    "Accept-Encoding": ("how a body may be encoded: not at all", "identity"),
    "WWW-Authenticate": ("what is asked for", 'Bearer realm="copse"'),
}

_KEY: dict[str, Exception] = {
    "no_key": NotAuthenticated("key.missing", "There is no API key in the request."),
    "wrong_key": NotAuthenticated("key.unknown", "There is no such API key, or it is revoked."),
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
    "no_body": Invalid(
        WRONG_REQUEST, ProblemItem(pointer="", code="request.missing", detail="Field required")
    ),
}


@dataclass(frozen=True)
class Described:
    """Marks a body that is an object, and that the store checks: the model only describes it.

    So each rule is in one place, the same for a request and for a line of an import, and all that
    is wrong is told at once. That the model says what the store does is tested.
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
    """What pydantic says of a parameter, for the page."""
    return Invalid(
        WRONG_REQUEST, ProblemItem(pointer=f"/{name}", code=f"request.{code}", detail=detail)
    )


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
    """The `responses` of a route: what it answers, and each error under its status."""
    responses: Responses = {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {media_type: {"example": example}},
            **_headers(headers),
        }
    }
    scoped: dict[str, Exception] = {"wrong_scope": NotAllowed(scope)} if scope else {}
    common = _KEY | scoped | (_STORE if store else {}) | (_BODY if body else {})
    return responses | documented(**common, **errors)


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


def problem_from(error: Exception) -> tuple[Problem, dict[str, str]]:
    """The problem that an error becomes, and its headers."""
    if isinstance(error, Refused):
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
