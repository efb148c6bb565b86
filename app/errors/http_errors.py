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
    ├── CatchingUp          503    it is loaded, and too many changes are missing
    ├── OthersLoading       503    another worker may still take connections without an index
    └── Shed                503    refused, so that others are answered in time
        ├── Overdue                … the client no longer waits for the answer
        └── Overloaded             … the request has waited for too long

`app/errors/handlers.py` turns them into responses.
"""

from collections.abc import Mapping
from http import HTTPStatus

from app.errors.problems import BehindProblem, ExpressionItem, Problem, ProblemItem, item
from index import ExpressionError, SchemaError

REALM = 'Bearer realm="copse"'
RETRY = {"Retry-After": "1"}


class HttpError(Exception):
    """An error with an HTTP status, problem details and headers of the response."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(
        self,
        detail: str,
        *errors: ExpressionItem | ProblemItem,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.headers = headers or {}

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
        where = f"{reason}, at character {offset}"
        super().__init__("The body is not JSON.", item("", "json.malformed", where))


class WrongIfMatch(HttpError):
    """The header If-Match is not one version."""

    def __init__(self, got: str) -> None:
        expected = f'expected one ETag in quotes, like "4", or *; got {got}'
        wrong = item("/if-match", "version.syntax", expected)
        super().__init__("The header If-Match is not valid.", wrong)


class NotAuthenticated(HttpError):
    """No key, or an invalid one; the response says why."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        error = "" if code == "key.missing" else ', error="invalid_token"'
        super().__init__(
            f"{reason} Send an API key as: Authorization: Bearer copse_…",
            item("/authorization", code, reason),
            headers={"WWW-Authenticate": REALM + error},
        )


class NotAllowed(HttpError):
    """The key does not have the scope that the route needs."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, needed: str) -> None:
        error = f'error="insufficient_scope", scope="{needed}"'
        super().__init__(
            f"This route needs a key with the scope {needed}.",
            item("/authorization", "key.scope", f"no scope {needed}"),
            headers={"WWW-Authenticate": f"{REALM}, {error}"},
        )


class TooLarge(HttpError):
    """The body is too large."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"The body is larger than {max_bytes} bytes.")


class WrongMediaType(HttpError):
    """The body has another content type than the route expects."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str | None, wanted: str = "application/json") -> None:
        sent = f"the request has {got!r}" if got else "the request has none"
        kind = "JSON" if wanted.endswith("/json") else "NDJSON"
        super().__init__(f"Send the body as {kind} with Content-Type: {wanted}; {sent}.")


class Encoded(HttpError):
    """The body is compressed in a way that the route does not take: the match routes take gzip, the
    others nothing (`identity`)."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str, accepted: str = "identity") -> None:
        how = "uncompressed" if accepted == "identity" else f"uncompressed or as {accepted}"
        detail = f"Send the body {how}, without Content-Encoding: {got}."
        super().__init__(detail, headers={"Accept-Encoding": accepted})


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
        wrong = item(pointer, error.code, error.message)
        super().__init__("The list of attributes is not valid.", wrong)


class VersionRequired(HttpError):
    """A write without the version that it is based on."""

    status = HTTPStatus.PRECONDITION_REQUIRED

    def __init__(self) -> None:
        super().__init__(
            "Send the header If-Match with the ETag that you have read, or * for any version.",
            item("/if-match", "version.missing", "If-Match is required"),
        )


class RateExceeded(HttpError):
    """The key is above its rate limit."""

    status = HTTPStatus.TOO_MANY_REQUESTS

    def __init__(self, rate: int, retry_after: int) -> None:
        self.retry_after = retry_after
        limit = f"the limit is {rate} requests a second"
        super().__init__(
            "This key has sent too many requests. Send fewer, or ask for a higher limit.",
            item("/authorization", "rate.exceeded", limit),
            headers={"Retry-After": str(retry_after)},
        )


class NotReady(HttpError):
    """The index is not loaded yet, and neither are the keys."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, loaded: int = 0, total: int | None = None) -> None:
        of = "" if total is None else f": {loaded} of {total} campaigns"
        loading = item("", "index.loading", "the index is being loaded")
        super().__init__(f"The index is being loaded{of}. Try again.", loading, headers=RETRY)


class CatchingUp(HttpError):
    """The index is loaded, and too many changes since then are missing."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, lag: int) -> None:
        detail = f"The index is loaded, and the last {lag} changes are missing. Try again."
        behind = item("", "index.behind", "changes are being applied")
        super().__init__(detail, behind, headers=RETRY)


class OthersLoading(HttpError):
    """This worker is ready, and another one may still take connections without an index."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self) -> None:
        detail = "This worker is ready, and another one has not answered yet. Try again."
        loading = item("", "index.loading", "another worker is starting")
        super().__init__(detail, loading, headers=RETRY)


class Behind(HttpError):
    """The index has not reached the requested rev."""

    status = HTTPStatus.CONFLICT

    def __init__(self, epoch: str, rev: int, wanted: int) -> None:
        self.epoch = epoch
        self.rev = rev
        place = f"the index is at rev {rev} of epoch {epoch}, not yet at {wanted}"
        behind = item("/min_rev", "rev.behind", place)
        super().__init__("The index has not reached the requested rev.", behind)

    def problem(self) -> BehindProblem:
        return BehindProblem(**super().problem().model_dump(), epoch=self.epoch, rev=self.rev)


class NothingToForecastFrom(HttpError):
    """No statistics are active, so there are no sampled requests."""

    status = HTTPStatus.CONFLICT

    def __init__(self) -> None:
        super().__init__(
            "A forecast needs active statistics: run `make stats`, and activate them.",
            item("", "statistics.none_active", "no statistics are active"),
        )


class Shed(HttpError):
    """Refused, so that others are answered in time; `reason` is its label in the metrics."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    reason = ""


class Overdue(Shed):
    """The client no longer waits for the answer."""

    reason = "deadline"

    def __init__(self, waited: float, tmax_ms: float) -> None:
        late = f"the request had waited {waited * 1000:.1f} ms of {tmax_ms:g} ms"
        shed = item("/tmax_ms", "shed.deadline", late)
        super().__init__("There was no time left to answer the request.", shed, headers=RETRY)


class Overloaded(Shed):
    """The request has waited for too long."""

    reason = "overload"

    def __init__(self, waited: float) -> None:
        shed = item("", "shed.overload", f"the request had waited {waited * 1000:.1f} ms")
        super().__init__("The service is overloaded.", shed, headers=RETRY)


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
