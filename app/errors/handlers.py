"""The one place that maps errors to HTTP responses.

    Exception
    ├── HttpError                  from the service (app/errors/http_errors.py)
    ├── CampaignsError             from the store (app/errors/store_errors.py)
    ├── RequestValidationError     from pydantic; becomes an HttpError
    ├── HTTPException              from the framework: 404, 405, 413 and others
    └── anything else       500    logged with its traceback; the response has no details

All of them become problem details (RFC 9457, see `app/errors/problems.py`).
"""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.errors.http_errors import HttpError, Invalid, MalformedJson, WrongMediaType
from app.errors.problems import MEDIA_TYPE, Problem, ProblemItem, item, pointer_to
from app.errors.store_errors import WRONG_REQUEST, headers_of, problem_of
from campaigns.errors import CampaignsError, DatabaseUnavailable
from campaigns.record import UNKNOWN_FIELD

log = logging.getLogger(__name__)

_NOT_AN_OBJECT = {"model_attributes_type", "dict_type"}


def install(app: FastAPI, routers: Sequence[APIRouter] = ()) -> None:
    """Make `app` answer every error with problem details; `routers` are its routes."""

    @app.exception_handler(HttpError)
    async def http_error(_: Request, error: HttpError) -> Response:
        return respond(error.problem(), error.headers)

    @app.exception_handler(CampaignsError)
    async def store_error(_: Request, error: CampaignsError) -> Response:
        if isinstance(error, DatabaseUnavailable):
            log.warning("%s", error)
        return respond(problem_of(error), headers_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> Response:
        return respond(_http_error_of(request, error).problem())

    @app.exception_handler(HTTPException)
    async def framework_error(request: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        detail = error.detail
        if status in _DETAILS:
            detail = _DETAILS[status].format(method=request.method, path=request.url.path)
        headers = dict(error.headers or {})
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = _methods_at(request.url.path, routers)
            headers["Allow"] = ", ".join(allowed) or headers["Allow"]
        return respond(Problem(title=status.phrase, status=status, detail=detail), headers)

    @app.exception_handler(Exception)
    async def unexpected_error(_: Request, __: Exception) -> Response:
        return respond(unexpected_problem())


_DETAILS = {
    HTTPStatus.NOT_FOUND: "Nothing is at {path}; /docs lists all paths.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not allow {method}; see the header Allow.",
}


def _methods_at(path: str, routers: Sequence[APIRouter]) -> list[str]:
    """The methods of all routes with this path; the framework names those of the first one only."""
    methods: set[str] = set()
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.path_regex.match(path):
                methods |= route.methods or set()
    return sorted(methods)


def unexpected_problem() -> Problem:
    """The problem for an unexpected error."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "An internal error occurred. The log of the service has the details."
    return Problem(title=status.phrase, status=status, detail=detail)


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a problem."""
    headers = {"X-Content-Type-Options": "nosniff", **(headers or {})}
    return Response(problem_bytes(problem), problem.status, headers=headers, media_type=MEDIA_TYPE)


def problem_bytes(problem: Problem) -> bytes:
    """A problem as JSON."""
    text = json.dumps(problem.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    # A name from the request may contain a lone surrogate, which has no UTF-8: it becomes "?".
    return text.encode("utf-8", "replace")


def _http_error_of(request: Request, error: RequestValidationError) -> HttpError:
    """Pydantic's findings as our own error: media type first, then JSON, then each field."""
    found = error.errors()
    first = found[0]
    if first["type"] == "json_invalid":
        return MalformedJson(first["ctx"]["error"], first["loc"][-1])
    content_type = request.headers.get("content-type")
    if first["loc"] == ("body",) and first["type"] in _NOT_AN_OBJECT:
        subtype = (content_type or "").partition(";")[0].strip().lower()
        if not (subtype == "application/json" or subtype.endswith("+json")):
            return WrongMediaType(content_type)
    return Invalid(WRONG_REQUEST, *map(_item_of, found))


def _item_of(found: Any) -> ProblemItem:
    path = found["loc"][1:]
    if found["type"] == "extra_forbidden":  # the same code and words as everywhere else
        return item(pointer_to(path), UNKNOWN_FIELD, f"there is no field {path[-1]}")
    return item(pointer_to(path), f"request.{found['type']}", found["msg"])
