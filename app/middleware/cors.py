"""CORS for the pages of allowed origins, around the match routes and the rest of the API.

Requests without an `Origin` header, as servers send them, pass through unchanged. Only these can
take the fast path of a match: a request head with an `Origin` never becomes a known one.
"""

from starlette.middleware.cors import CORSMiddleware

from app.match.router import MatchRouter

METHODS = ("GET", "POST", "PATCH", "DELETE")
HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Request-Id")
EXPOSED = ("ETag", "Location", "Retry-After", "X-Request-Id")


class Cors(CORSMiddleware):
    """Adds CORS headers to responses, and keeps the fast path of the router (`FastPathApp`)."""

    def __init__(self, router: MatchRouter, origins: list[str]) -> None:
        super().__init__(
            router,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=HEADERS,
            expose_headers=EXPOSED,
        )
        self.heads = router.heads
        self.queue = router.queue
        self.routes = router.routes
        self.fast_answer = router.fast_answer
        self.refusal = router.refusal
