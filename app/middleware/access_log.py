"""The access log: a line for each write, and for each error. Pure ASGI.

    {…, "logger": "copse.access", "request_id": "5f0c7d1e9a3b2c48", "method": "POST",
     "route": "create_campaign", "status": 201, "duration_ms": 12.3, "key_id": 3, "message": "…"}

It has the name of the route instead of the path, and the id of the key instead of the key: nothing
that a client makes up but the request id, which has few characters. Matches are logged only if they
fail, and not those that were refused for overload or by a rate limit: metrics count them.
"""

import logging
from http import HTTPStatus
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.middleware.request_counts import route_of
from app.observability.logging import ACCESS

log = logging.getLogger(ACCESS)

MOST_PER_SECOND = 200
"""More lines are left out, and counted: a flood of errors must not become a flood of lines."""

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_EXPECTED = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


class AccessLog:
    """Writes the lines of all routes; `MatchRouter` calls `write_match` for its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._second = 0.0
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            # Without a status, the client was gone before there was an answer.
            if scope["method"] not in _READS or status >= HTTPStatus.BAD_REQUEST:
                caller = scope.get("caller")
                self._write(scope, route_of(scope), status, began, caller and caller.key_id)

    def write_match(self, scope: Scope, route: str, status: int, began: float) -> None:
        """Write a line for a match that failed."""
        if status not in _EXPECTED:
            self._write(scope, route, status, began, scope.get("key_id"))

    def _write(
        self, scope: Scope, route: str, status: int, began: float, key_id: int | None
    ) -> None:
        now = perf_counter()
        if now - self._second >= 1:
            if self._count > MOST_PER_SECOND:
                log.warning("%d lines were left out", self._count - MOST_PER_SECOND)
            self._second, self._count = now, 0
        self._count += 1
        if self._count > MOST_PER_SECOND:
            return
        fields = {
            "method": scope["method"],
            "route": route,
            "status": status,
            "duration_ms": round((now - began) * 1000, 1),
            "key_id": key_id,
        }
        text = "%(method)s %(route)s: %(status)d in %(duration_ms)s ms, key %(key_id)s"
        log.info(text, fields, extra={"fields": fields})
