"""How what goes wrong leaves the service: the one place that maps errors to HTTP.

    Exception
    ├── Refused                    the service says no (app/errors/http_errors.py)
    ├── CampaignsError             the store says no (app/errors/store_errors.py)
    ├── RequestValidationError     pydantic's; becomes a Refused
    ├── HTTPException              the framework's: 404, 405, 413 and the like
    └── anything else       500    logged with its traceback, told to nobody

All of them become problem details (RFC 9457, see `app/errors/problems.py`).
"""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.errors.http_errors import Invalid, MalformedJson, Refused, WrongMediaType
from app.errors.problems import MEDIA_TYPE, Problem, ProblemItem, pointer_to
from app.errors.store_errors import WRONG_REQUEST, headers_of, problem_of
from campaigns.errors import CampaignsError, DatabaseUnavailable

log = logging.getLogger(__name__)

_NOT_AN_OBJECT = {"model_attributes_type", "dict_type"}


def install(app: FastAPI, routers: Sequence[APIRouter] = ()) -> None:
    """Make `app`, which has these routers, answer every error with problem details."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return respond(error.problem(), error.headers)

    @app.exception_handler(CampaignsError)
    async def store_refused(_: Request, error: CampaignsError) -> Response:
        if isinstance(error, DatabaseUnavailable):
            log.warning("%s", error)
        return respond(problem_of(error), headers_of(error))

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        return respond(_refusal_of(request, error).problem())

    @app.exception_handler(HTTPException)
    async def framework(request: Request, error: HTTPException) -> Response:
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
    async def unexpected(_: Request, __: Exception) -> Response:
        return respond(unexpected_problem())


_DETAILS = {
    HTTPStatus.NOT_FOUND: "There is nothing at {path}; /docs lists what there is.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not take {method}; the header Allow says what.",
}


def _methods_at(path: str, routers: Sequence[APIRouter]) -> list[str]:
    """What a path takes, of all its routes; the framework names those of the first one only."""
    methods: set[str] = set()
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.path_regex.match(path):
                methods |= route.methods or set()
    return sorted(methods)


def unexpected_problem() -> Problem:
    """What is told of an error that nobody thought of."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "Something went wrong in the service; its log says what."
    return Problem(title=status.phrase, status=status, detail=detail)


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The response that carries a problem."""
    told = {"X-Content-Type-Options": "nosniff", **(headers or {})}
    return Response(problem_bytes(problem), problem.status, headers=told, media_type=MEDIA_TYPE)


def problem_bytes(problem: Problem) -> bytes:
    """A problem as JSON."""
    text = json.dumps(problem.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    # A name quoted from the request may hold a lone surrogate, which has no UTF-8: "?" then.
    return text.encode("utf-8", "replace")


def _refusal_of(request: Request, error: RequestValidationError) -> Refused:
    """What pydantic found, in our words: media type first, then JSON, then each field."""
    found = error.errors()
    first = found[0]
    if first["type"] == "json_invalid":
        return MalformedJson(first["ctx"]["error"], first["loc"][-1])
    content_type = request.headers.get("content-type")
    if first["loc"] == ("body",) and first["type"] in _NOT_AN_OBJECT:
        subtype = (content_type or "").partition(";")[0].strip().lower()
        if not (subtype == "application/json" or subtype.endswith("+json")):
            return WrongMediaType(content_type)
    return Invalid(
        WRONG_REQUEST,
        *(
            ProblemItem(
                pointer=pointer_to(item["loc"][1:]),
                code=f"request.{item['type']}",
                detail=item["msg"],
            )
            for item in found
        ),
    )
