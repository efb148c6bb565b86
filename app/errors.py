"""What can go wrong, and how it leaves the service: the one place that maps errors to HTTP.

    Exception
    ├── Refused                        the service says no; the subclass says how
    │   ├── WrongMediaType      415    the body is not declared as JSON
    │   ├── MalformedJson       400    the body is not JSON
    │   └── Invalid             422    JSON, but not what the route takes
    │       ├── InvalidExpression      … its expression is wrong (index.ExpressionError)
    │       └── InvalidAttributes      … its attribute list is wrong (index.SchemaError)
    ├── RequestValidationError         pydantic's; becomes one of the first three above
    ├── HTTPException                  the framework's: 404, 405, 413 and the like
    └── anything else           500    logged with its traceback, told to nobody

All of them become problem details (RFC 9457, see `app/problems.py`).
"""

import json
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.problems import MEDIA_TYPE, ExpressionItem, Problem, ProblemItem, pointer_to
from index import ExpressionError, SchemaError


class Refused(Exception):
    """The service says no."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(self, detail: str, *errors: ExpressionItem | ProblemItem) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors

    def problem(self) -> Problem:
        return Problem(
            title=self.status.phrase,
            status=self.status,
            detail=self.detail,
            errors=list(self.errors),
        )


class WrongMediaType(Refused):
    """The body is not declared as JSON."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str | None) -> None:
        self.got = got
        sent = f"the request says {got!r}" if got else "the request names no content type"
        super().__init__(f"Send the body as JSON with Content-Type: application/json; {sent}.")


class MalformedJson(Refused):
    """The body is not JSON."""

    def __init__(self, reason: str, offset: int) -> None:
        detail = f"{reason}, at character {offset}"
        super().__init__(
            "The body is not JSON.", ProblemItem(pointer="", code="json.malformed", detail=detail)
        )


class Invalid(Refused):
    """The body is JSON, but not what the route takes."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class InvalidExpression(Invalid):
    """The body holds an expression that is wrong."""

    def __init__(self, pointer: str, error: ExpressionError) -> None:
        super().__init__(
            "The expression is wrong.",
            ExpressionItem(
                pointer=pointer,
                code=error.code,
                detail=error.message,
                line=error.line,
                column=error.column,
                start=error.start,
                end=error.end,
                caret=error.render(),
                hint=error.hint,
            ),
        )


class InvalidAttributes(Invalid):
    """The body declares attributes that cannot be."""

    def __init__(self, pointer: str, error: SchemaError) -> None:
        super().__init__(
            "The list of attributes is wrong.",
            ProblemItem(pointer=pointer, code=error.code, detail=error.message),
        )


def install(app: FastAPI) -> None:
    """Make `app` answer every error with problem details."""

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return respond(error.problem())

    @app.exception_handler(RequestValidationError)
    async def not_valid(request: Request, error: RequestValidationError) -> Response:
        return respond(_refusal_of(request, error).problem())

    @app.exception_handler(HTTPException)
    async def framework(request: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        detail = error.detail
        if status in _DETAILS:
            detail = _DETAILS[status].format(method=request.method, path=request.url.path)
        return respond(Problem(title=status.phrase, status=status, detail=detail), error.headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, __: Exception) -> Response:
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        detail = "Something went wrong in the service; its log says what."
        return respond(Problem(title=status.phrase, status=status, detail=detail))


_DETAILS = {
    HTTPStatus.NOT_FOUND: "There is nothing at {path}; /docs lists what there is.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not take {method}; the header Allow says what.",
}


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The response that carries a problem."""
    text = json.dumps(problem.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
    # A name quoted from the request may hold a lone surrogate, which has no UTF-8: "?" then.
    return Response(
        text.encode("utf-8", "replace"), problem.status, headers=headers, media_type=MEDIA_TYPE
    )


def _refusal_of(request: Request, error: RequestValidationError) -> Refused:
    """What pydantic found, in our words: media type first, then JSON, then each field."""
    found = error.errors()
    first = found[0]
    if first["type"] == "json_invalid":
        return MalformedJson(first["ctx"]["error"], first["loc"][-1])
    content_type = request.headers.get("content-type")
    if first["loc"] == ("body",) and first["type"] == "model_attributes_type":
        subtype = (content_type or "").partition(";")[0].strip().lower()
        if not (subtype == "application/json" or subtype.endswith("+json")):
            return WrongMediaType(content_type)
    return Invalid(
        "The request is not what this route takes.",
        *(
            ProblemItem(
                pointer=pointer_to(item["loc"][1:]),
                code=f"request.{item['type']}",
                detail=item["msg"],
            )
            for item in found
        ),
    )
