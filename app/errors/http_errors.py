"""The errors of the service itself; those of the store are in `campaigns/errors.py`.

    HttpError                      the base class
    ├── MalformedJson       400    the body is not JSON
    ├── WrongIfMatch        400    the header If-Match is not one version
    ├── NotAuthenticated    401    no key, or an invalid one
    ├── NotAllowed          403    the key does not have the scope
    ├── Behind              409    the index has not reached the requested rev
    ├── NothingToForecastFrom  409 no statistics are active
    ├── TooLarge            413    the body is too large
    ├── WrongMediaType      415    the body has another content type than the route expects
    ├── Encoded             415    the body is compressed
    ├── Invalid             422    the body is JSON, but not valid for the route
    │   ├── InvalidExpression      … its expression is wrong (index.ExpressionError)
    │   └── InvalidAttributes      … its attribute list is wrong (index.SchemaError)
    ├── VersionRequired     428    a write without If-Match
    ├── RateExceeded        429    the key is above its rate limit
    ├── NotReady            503    the index is not loaded yet
    │   └── CatchingUp             … it is loaded, and too many changes are missing
    ├── Overdue             503    the client no longer waits for the answer
    └── Overloaded          503    the request has waited for too long

`app/errors/handlers.py` turns them into responses.
"""

from http import HTTPStatus

from app.errors.problems import BehindProblem, ExpressionItem, Problem, ProblemItem
from index import ExpressionError, SchemaError

REALM = 'Bearer realm="copse"'
RETRY_SECONDS = "1"


class HttpError(Exception):
    """An error with an HTTP status and problem details."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(self, detail: str, *errors: ExpressionItem | ProblemItem) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.headers: dict[str, str] = {}
        """Headers of the response."""

    def problem(self) -> Problem:
        return Problem(
            title=self.status.phrase,
            status=self.status,
            detail=self.detail,
            errors=list(self.errors),
        )


class MalformedJson(HttpError):
    """The body is not JSON."""

    def __init__(self, reason: str, offset: int) -> None:
        detail = f"{reason}, at character {offset}"
        super().__init__(
            "The body is not JSON.", ProblemItem(pointer="", code="json.malformed", detail=detail)
        )


class WrongIfMatch(HttpError):
    """The header If-Match is not one version."""

    def __init__(self, got: str) -> None:
        self.got = got
        detail = f'expected one ETag in quotes, like "4", or *; got {got}'
        super().__init__(
            "The header If-Match is not valid.",
            ProblemItem(pointer="/if-match", code="version.syntax", detail=detail),
        )


class NotAuthenticated(HttpError):
    """No key, or an invalid one; the response says why."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(
            f"{reason} Send an API key as: Authorization: Bearer copse_…",
            ProblemItem(pointer="/authorization", code=code, detail=reason),
        )
        error = "" if code == "key.missing" else ', error="invalid_token"'
        self.headers = {"WWW-Authenticate": REALM + error}


class NotAllowed(HttpError):
    """The key does not have the scope that the route needs."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, needed: str) -> None:
        self.needed = needed
        super().__init__(
            f"This route needs a key with the scope {needed}.",
            ProblemItem(
                pointer="/authorization",
                code="key.scope",
                detail=f"no scope {needed}",
            ),
        )
        error = f'error="insufficient_scope", scope="{needed}"'
        self.headers = {"WWW-Authenticate": f"{REALM}, {error}"}


class TooLarge(HttpError):
    """The body is too large."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        super().__init__(f"The body is larger than {max_bytes} bytes.")


class WrongMediaType(HttpError):
    """The body has another content type than the route expects."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str | None, wanted: str = "application/json") -> None:
        self.got = got
        sent = f"the request has {got!r}" if got else "the request has none"
        kind = "JSON" if wanted.endswith("/json") else "NDJSON"
        super().__init__(f"Send the body as {kind} with Content-Type: {wanted}; {sent}.")


class Encoded(HttpError):
    """The body is compressed; the service does not decompress what it gets."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str) -> None:
        self.got = got
        super().__init__(f"Send the body uncompressed, without Content-Encoding: {got}.")
        self.headers = {"Accept-Encoding": "identity"}


class Invalid(HttpError):
    """The body is JSON, but not valid for the route."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class InvalidExpression(Invalid):
    """The body contains an invalid expression."""

    def __init__(self, pointer: str, error: ExpressionError) -> None:
        super().__init__("The expression is not valid.", expression_item(pointer, error))


class InvalidAttributes(Invalid):
    """The body declares invalid attributes."""

    def __init__(self, pointer: str, error: SchemaError) -> None:
        super().__init__(
            "The list of attributes is not valid.",
            ProblemItem(pointer=pointer, code=error.code, detail=error.message),
        )


class VersionRequired(HttpError):
    """A write without the version that it is based on."""

    status = HTTPStatus.PRECONDITION_REQUIRED

    def __init__(self) -> None:
        super().__init__(
            "Send the header If-Match with the ETag that you have read, or * for any version.",
            ProblemItem(pointer="/if-match", code="version.missing", detail="If-Match is required"),
        )


class RateExceeded(HttpError):
    """The key is above its rate limit."""

    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, rate: int, retry_after: int) -> None:
        self.rate = rate
        self.retry_after = retry_after
        super().__init__(
            "This key has sent too many requests. Send fewer, or ask for a higher limit.",
            ProblemItem(
                pointer="/authorization",
                code="rate.exceeded",
                detail=f"the limit is {rate} requests a second",
            ),
        )
        self.headers = {"Retry-After": str(retry_after)}


class NotReady(HttpError):
    """The index is not loaded yet, and neither are the keys."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, loaded: int = 0, total: int | None = None) -> None:
        of = "" if total is None else f": {loaded} of {total} campaigns"
        super().__init__(
            f"The index is being loaded{of}. Try again.",
            ProblemItem(pointer="", code="index.loading", detail="the index is being loaded"),
        )
        self.headers = {"Retry-After": RETRY_SECONDS}


class CatchingUp(NotReady):
    """The index is loaded, and too many changes since then are missing."""

    def __init__(self, lag: int) -> None:
        self.lag = lag
        HttpError.__init__(
            self,
            f"The index is loaded, and the last {lag} changes are missing. Try again.",
            ProblemItem(pointer="", code="index.behind", detail="changes are being applied"),
        )
        self.headers = {"Retry-After": RETRY_SECONDS}


class Behind(HttpError):
    """The index has not reached the requested rev."""

    status = HTTPStatus.CONFLICT

    def __init__(self, epoch: str, rev: int, wanted: int) -> None:
        self.epoch = epoch
        self.rev = rev
        self.wanted = wanted
        detail = f"the index is at rev {rev} of epoch {epoch}, not yet at {wanted}"
        super().__init__(
            "The index has not reached the requested rev.",
            ProblemItem(pointer="/min_rev", code="rev.behind", detail=detail),
        )

    def problem(self) -> BehindProblem:
        return BehindProblem(**super().problem().model_dump(), epoch=self.epoch, rev=self.rev)


class NothingToForecastFrom(HttpError):
    """No statistics are active, so there are no sampled requests."""

    status = HTTPStatus.CONFLICT

    def __init__(self) -> None:
        super().__init__(
            "A forecast needs active statistics: run `make stats`, and activate them.",
            ProblemItem(
                pointer="", code="statistics.none_active", detail="no statistics are active"
            ),
        )


class Shed(HttpError):
    """Refused, so that others are answered in time; `reason` is its label in the metrics."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    reason = ""

    def __init__(self, detail: str, item: ProblemItem) -> None:
        super().__init__(detail, item)
        self.headers = {"Retry-After": RETRY_SECONDS}


class Overdue(Shed):
    """The client no longer waits for the answer."""

    reason = "deadline"

    def __init__(self, waited: float, tmax_ms: float) -> None:
        self.waited = waited
        self.tmax_ms = tmax_ms
        detail = f"the request had waited {waited * 1000:.1f} ms of {tmax_ms:g} ms"
        super().__init__(
            "There was no time left to answer the request.",
            ProblemItem(pointer="/tmax_ms", code="shed.deadline", detail=detail),
        )


class Overloaded(Shed):
    """The request has waited for too long."""

    reason = "overload"

    def __init__(self, waited: float) -> None:
        self.waited = waited
        detail = f"the request had waited {waited * 1000:.1f} ms"
        super().__init__(
            "The service is overloaded.",
            ProblemItem(pointer="", code="shed.overload", detail=detail),
        )


def expression_item(pointer: str, error: ExpressionError) -> ExpressionItem:
    """What is wrong with an expression, where, and how to fix it."""
    return ExpressionItem(
        pointer=pointer,
        code=error.code,
        detail=error.message,
        line=error.line,
        column=error.column,
        start=error.start,
        end=error.end,
        caret=error.render(),
        hint=error.hint,
    )
