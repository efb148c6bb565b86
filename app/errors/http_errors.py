"""What the service itself refuses. What the store refuses is in `campaigns/errors.py`.

    Refused                        the service says no; the subclass says how
    ├── MalformedJson       400    the body is not JSON
    ├── WrongIfMatch        400    the header If-Match is not one version
    ├── NotAuthenticated    401    no key, or none that counts
    ├── NotAllowed          403    a key without the scope
    ├── Behind              409    the rev that was asked for is not here yet
    ├── NothingToForecastFrom  409 no statistics are active
    ├── TooLarge            413    the body has more bytes than it may
    ├── WrongMediaType      415    the body is not declared as what the route takes
    ├── Encoded             415    the body is compressed
    ├── Invalid             422    JSON, but not what the route takes
    │   ├── InvalidExpression      … its expression is wrong (index.ExpressionError)
    │   └── InvalidAttributes      … its attribute list is wrong (index.SchemaError)
    ├── VersionRequired     428    a write without If-Match
    ├── RateExceeded        429    the key has sent too many requests in this second
    ├── NotReady            503    the index is not loaded yet
    │   └── CatchingUp             … it is, and lacks too many changes
    ├── Overdue             503    its sender no longer waits for the answer
    └── Overloaded          503    it has waited too long already

`app/errors/handlers.py` turns them into responses.
"""

from http import HTTPStatus

from app.errors.problems import BehindProblem, ExpressionItem, Problem, ProblemItem
from index import ExpressionError, SchemaError

REALM = 'Bearer realm="copse"'
RETRY_SECONDS = "1"


class Refused(Exception):
    """The service says no."""

    status = HTTPStatus.BAD_REQUEST

    def __init__(self, detail: str, *errors: ExpressionItem | ProblemItem) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = errors

    @property
    def headers(self) -> dict[str, str]:
        """What goes out beside the problem."""
        return {}

    def problem(self) -> Problem:
        return Problem(
            title=self.status.phrase,
            status=self.status,
            detail=self.detail,
            errors=list(self.errors),
        )


class MalformedJson(Refused):
    """The body is not JSON."""

    def __init__(self, reason: str, offset: int) -> None:
        detail = f"{reason}, at character {offset}"
        super().__init__(
            "The body is not JSON.", ProblemItem(pointer="", code="json.malformed", detail=detail)
        )


class WrongIfMatch(Refused):
    """The header If-Match is not one version."""

    def __init__(self, got: str) -> None:
        self.got = got
        detail = f'expected one ETag as it was given, like "4", or *; not {got}'
        super().__init__(
            "The header If-Match cannot be read.",
            ProblemItem(pointer="/if-match", code="version.syntax", detail=detail),
        )


class NotAuthenticated(Refused):
    """No key, or none that counts. The reason is told to the one who holds the key."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        super().__init__(
            f"{reason} Send an API key as: Authorization: Bearer copse_…",
            ProblemItem(pointer="/authorization", code=code, detail=reason),
        )

    @property
    def headers(self) -> dict[str, str]:
        if self.code == "key.missing":
            return {"WWW-Authenticate": REALM}
        return {"WWW-Authenticate": f'{REALM}, error="invalid_token"'}


class NotAllowed(Refused):
    """A key without the scope that the route needs."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, needed: str) -> None:
        self.needed = needed
        super().__init__(
            f"This needs a key with the scope {needed}.",
            ProblemItem(pointer="/authorization", code="key.scope", detail=f"no scope {needed}"),
        )

    @property
    def headers(self) -> dict[str, str]:
        error = f'error="insufficient_scope", scope="{self.needed}"'
        return {"WWW-Authenticate": f"{REALM}, {error}"}


class TooLarge(Refused):
    """The body has more bytes than it may."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        super().__init__(f"The body is larger than {max_bytes} bytes.")


class WrongMediaType(Refused):
    """The body is not declared as what the route takes."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str | None, wanted: str = "application/json") -> None:
        self.got = got
        sent = f"the request says {got!r}" if got else "the request names no content type"
        kind = "JSON" if wanted.endswith("/json") else "NDJSON"
        super().__init__(f"Send the body as {kind} with Content-Type: {wanted}; {sent}.")


class Encoded(Refused):
    """The body is compressed. Nobody here unpacks what a stranger has packed."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE

    def __init__(self, got: str) -> None:
        self.got = got
        super().__init__(f"Send the body as it is, without Content-Encoding: {got}.")

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept-Encoding": "identity"}


class Invalid(Refused):
    """The body is JSON, but not what the route takes."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class InvalidExpression(Invalid):
    """The body holds an expression that is wrong."""

    def __init__(self, pointer: str, error: ExpressionError) -> None:
        super().__init__("The expression is wrong.", expression_item(pointer, error))


class InvalidAttributes(Invalid):
    """The body declares attributes that cannot be."""

    def __init__(self, pointer: str, error: SchemaError) -> None:
        super().__init__(
            "The list of attributes is wrong.",
            ProblemItem(pointer=pointer, code=error.code, detail=error.message),
        )


class VersionRequired(Refused):
    """A write that must say which version it has seen, and does not."""

    status = HTTPStatus.PRECONDITION_REQUIRED

    def __init__(self) -> None:
        super().__init__(
            "Send the header If-Match with the ETag that you have seen, or with * for any.",
            ProblemItem(pointer="/if-match", code="version.missing", detail="If-Match is required"),
        )


class RateExceeded(Refused):
    """The key has sent more than its limit lets it."""

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

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class NotReady(Refused):
    """The index is not loaded yet, and the keys with it."""

    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, loaded: int = 0, total: int | None = None) -> None:
        of = "" if total is None else f": {loaded} of {total} campaigns"
        super().__init__(
            f"The index is being loaded{of}. Ask again.",
            ProblemItem(pointer="", code="index.loading", detail="the index is being loaded"),
        )

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": RETRY_SECONDS}


class CatchingUp(NotReady):
    """The index is loaded, and lacks too much of what happened meanwhile."""

    def __init__(self, lag: int) -> None:
        self.lag = lag
        Refused.__init__(
            self,
            f"The index is loaded and lacks the last {lag} changes. Ask again.",
            ProblemItem(pointer="", code="index.behind", detail="changes are being applied"),
        )


class Behind(Refused):
    """The index has not reached the rev that was asked for."""

    status = HTTPStatus.CONFLICT

    def __init__(self, epoch: str, rev: int, wanted: int) -> None:
        self.epoch = epoch
        self.rev = rev
        self.wanted = wanted
        detail = f"the index is at rev {rev} of epoch {epoch}, not yet at {wanted}"
        super().__init__(
            "The index is not there yet.",
            ProblemItem(pointer="/min_rev", code="rev.behind", detail=detail),
        )

    def problem(self) -> BehindProblem:
        return BehindProblem(**super().problem().model_dump(), epoch=self.epoch, rev=self.rev)


class NothingToForecastFrom(Refused):
    """There are no active statistics, and so no sampled requests."""

    status = HTTPStatus.CONFLICT

    def __init__(self) -> None:
        super().__init__(
            "There are no active statistics to forecast from: run `make stats`, and activate them.",
            ProblemItem(
                pointer="", code="statistics.none_active", detail="no statistics are active"
            ),
        )


class Shed(Refused):
    """Refused to keep others in time. `reason` is what it is counted under."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    reason = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": RETRY_SECONDS}


class Overdue(Shed):
    """Its sender no longer waits for the answer."""

    reason = "deadline"

    def __init__(self, waited: float, tmax_ms: float) -> None:
        self.waited = waited
        self.tmax_ms = tmax_ms
        detail = f"it had waited {waited * 1000:.1f} ms, of {tmax_ms:g}"
        super().__init__(
            "There was no time left to answer this.",
            ProblemItem(pointer="/tmax_ms", code="shed.deadline", detail=detail),
        )


class Overloaded(Shed):
    """It has waited too long already."""

    reason = "overload"

    def __init__(self, waited: float) -> None:
        self.waited = waited
        detail = f"it had waited {waited * 1000:.1f} ms"
        super().__init__(
            "There is more to do than can be done.",
            ProblemItem(pointer="", code="shed.overload", detail=detail),
        )


def expression_item(pointer: str, error: ExpressionError) -> ExpressionItem:
    """Where an expression is wrong, and how to mend it."""
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
