"""The fast path of a match through the server: one read, one write, no task in between.

    data_received ──┬── match queue ──┬── fast path     a known request head: fast_answer, one write
                    │                 └── normal path   any other head of a match
                    └── normal path   everything else: uvicorn's parser, a task, ASGI

uvicorn makes an event, a task and a dozen objects for each request, whatever the application does;
that is several times what a match costs. An application that can answer some requests without
waiting (`FastPathApp`) is asked directly when it is the request's turn (`match_queue.py`);
`arrived_at` says how long the request has waited. In an overload, the queue refuses a request
before it is parsed.

Anything unusual takes the normal path immediately: a body in pieces, pipelining, a client that does
not read. So does every request that the application does not answer directly: the parser then gets
the same bytes, as if nothing had been tried.
"""

import asyncio
from collections.abc import Container
from time import perf_counter
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from app.match.compression import SMALLEST, deflated
from app.server.match_queue import MatchQueue
from app.server.protocol import HttpProtocol
from app.server.request_heads import BLANK_LINE, KnownHeads, RequestHead, path_of_whole
from app.server.responses import answer, refusal

MATCH = b"/v1/match"
"""The path of known heads."""


class FastPathApp(Protocol):
    """An application that can answer some requests without waiting."""

    heads: KnownHeads
    queue: MatchQueue
    routes: Container[bytes]
    """The paths of requests that wait in the queue."""

    def fast_answer(
        self,
        state: dict[str, Any],
        head: RequestHead,
        body: bytes,
        arrived_at: float,
        request_id: bytes,
    ) -> bytes | None:
        """The body of a 200 response, or None for the normal path; it must not raise."""

    def refusal(self, state: dict[str, Any], path: bytes, waited: float) -> bytes:
        """The body of a 503 response to a request that has waited in the queue; empty for 204."""


def fast_path_app(app: object) -> FastPathApp | None:
    """The application, if it has a fast path."""
    return cast(FastPathApp, app) if hasattr(app, "fast_answer") else None


class FastPathProtocol(HttpProtocol):
    """One connection with a fast path, where the application has one."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._fast_app = fast_path_app(config.app)
        self._midway = False
        """The parser has seen the start of a request, and not its end."""

        self._pending: tuple[RequestHead | None, bytes, int, bytes] | None = None
        """The request that waits in the queue: its head if that is known, its id, the start of its
        body, and all its bytes."""

        self._arrived_at = 0.0
        """When the pending request arrived; 0 if none is pending."""

        self._last_used = 0.0
        self.first: tuple[bytes, float] = b"", 0.0
        """What was read from the connection before it had a protocol; and, if that is a match that
        has had its turn in the queue, when it arrived."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        (data, arrived_at), self.first = self.first, (b"", 0.0)
        if not data:
            return
        if self._receive(data, arrived_at or perf_counter()):
            self.answer()

    def data_received(self, data: bytes) -> None:
        if self._fast_app is None:
            super().data_received(data)
            return
        if self._pending is not None:
            self.answer()  # it arrived first
        now = perf_counter()
        if self._receive(data, now):
            self._fast_app.queue.add(now, self)

    def _receive(self, data: bytes, now: float) -> bool:
        """Whether there is a pending request now; what cannot wait is left to the parser."""
        cycle = self.cycle  # None at first, although its type says otherwise
        busy = self._midway or (cycle and not cycle.response_complete)
        end = -1 if busy or self._fast_app is None else data.find(BLANK_LINE)
        if end < 0 or self._fast_app is None or self.flow.write_paused:
            super().data_received(data)
            return False
        head, request_id = self._fast_app.heads.find(data, end)
        if head is None and path_of_whole(data, end) not in self._fast_app.routes:
            super().data_received(data)
            return False
        self._arrived_at = now
        self._pending = (head, request_id, end + len(BLANK_LINE), data)
        return True

    def _learn(self, data: bytes, begin: int) -> None:
        """Remember the head of what the parser has just read, if that was one whole request."""
        if self._fast_app is None or self._midway or self.transport.is_closing():
            return
        self._fast_app.heads.learn(data, begin - len(BLANK_LINE), self.headers)

    def answer(self) -> bool:
        """Answer the pending request; True if a task does."""
        if self._pending is None or self._fast_app is None or self.transport.is_closing():
            return False
        (head, request_id, begin, data), self._pending = self._pending, None
        body = None
        if head is not None:
            at = self._arrived_at
            sent = data[begin:]
            body = self._fast_app.fast_answer(self.app_state, head, sent, at, request_id)
        if body is None:
            super().data_received(data)
            self._arrived_at = 0.0
            if head is None:
                self._learn(data, begin)
            return True
        headers = self.server_state.default_headers
        gzip = head is not None and head.gzip and len(body) >= SMALLEST
        if gzip:
            body = deflated(body)
        self._write(answer(headers, request_id, body, self._closing, gzip), self._closing)
        return False

    def shed(self, waited: float) -> None:
        """Refuse the pending request."""
        if self._pending is None or self._fast_app is None or self.transport.is_closing():
            return
        (head, request_id, begin, data), self._pending = self._pending, None
        path, close = MATCH, self._closing
        if head is None:
            path = path_of_whole(data, begin - len(BLANK_LINE))
            fields = data[:begin].lower()
            if b"\r\nconnection:" in fields and b"\r\nconnection: keep-alive\r" not in fields:
                close = True
        body = self._fast_app.refusal(self.app_state, path, waited)
        self._write(refusal(self.server_state.default_headers, request_id, body, close), close)

    def _write(self, response: bytes, close: bool) -> None:
        self.server_state.total_requests += 1
        self.transport.write(response)
        if close:
            self.transport.close()
        elif self.timeout_keep_alive_task is None:
            self._start_keep_alive(self.timeout_keep_alive)
        self._last_used, self._arrived_at = self._arrived_at, 0.0

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that has closed its own direction after a match still waits for the answer. In
        an overload it counts as gone."""
        app = self._fast_app
        if app is None or app.queue.is_overloaded:
            return None
        if self._pending is not None:
            self._closing = True
            return True
        cycle = self.cycle
        if not cycle or cycle.response_complete or cycle.scope["path"].encode() not in app.routes:
            return None
        cycle.keep_alive = False  # uvicorn closes the connection after the response
        return bool(not cycle.more_body)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._midway = True
        if self._arrived_at:  # it has waited in the queue
            self.scope["arrived_at"] = self._arrived_at
            self.scope["had_turn"] = True

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._midway = False

    def used_at(self) -> float:
        now = perf_counter() if self._pending is not None else 0.0
        return max(super().used_at(), self._last_used, now)

    def timeout_keep_alive_handler(self) -> None:
        # Moving the timer at each request would cost half as much as a match.
        left = self._last_used + self.timeout_keep_alive - perf_counter()
        if self._pending is not None or left > 0:
            self._start_keep_alive(max(left, 1.0))
        else:
            super().timeout_keep_alive_handler()

    def _start_keep_alive(self, seconds: float) -> None:
        after = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(seconds, after)
