"""The fast path of a match through the server: one read, one write, no task in between.

    data_received ──┬── fast path     a known request head, the whole body: fast_answer, one write
                    └── normal path   everything else: uvicorn's parser, a task, ASGI

uvicorn makes an event, a task and a dozen objects for each request, whatever the application does;
that is several times what a match costs. An application that can answer some requests without
waiting (`FastPathApp`) is asked directly, in the next turn of the event loop, as a task would be:
so requests that were read in one turn are answered in order, and `arrived_at` says how long each
has waited.

Anything unusual takes the normal path: a body in pieces, pipelining, a client that does not read.
So does every request that the application does not answer directly: the parser then gets the same
bytes, as if nothing had been tried.
"""

import asyncio
from time import perf_counter
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from app.server.protocol import HttpProtocol
from app.server.request_heads import KnownHeads, RequestHead

_BLANK_LINE = b"\r\n\r\n"


class FastPathApp(Protocol):
    """An application that can answer some requests without waiting."""

    heads: KnownHeads

    def fast_answer(
        self, state: dict[str, Any], head: RequestHead, body: bytes, arrived_at: float
    ) -> bytes | None:
        """The body of a 200 response, or None for the normal path; it must not raise."""


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
        has_fast_path = hasattr(config.app, "fast_answer")
        self._fast_app = cast(FastPathApp, config.app) if has_fast_path else None
        self._midway = False
        """The parser has seen the start of a request, and not its end."""

        self._pending: tuple[RequestHead, bytes, bytes, bytes] | None = None
        """A request that is answered in the next turn of the event loop: its head, request id and
        body, and all its bytes for the normal path."""

        self._arrived_at = 0.0
        """When the pending request arrived; 0 if none is pending."""

        self._closing = False
        self._last_used = 0.0

    def data_received(self, data: bytes) -> None:
        if self._fast_app is None:
            super().data_received(data)
            return
        if self._pending is not None:
            self._answer()  # it arrived first
        cycle = self.cycle  # None at first, although its type says otherwise
        busy = self._midway or (cycle and not cycle.response_complete)
        end = -1 if busy else data.find(_BLANK_LINE)
        if end < 0:
            super().data_received(data)
            return
        request_id = b""
        head = self._fast_app.heads.get(data[:end])
        if head is None:
            head, request_id = self._fast_app.heads.find(data[:end])
        begin = end + len(_BLANK_LINE)
        if head is None or len(data) != begin + head.length or self.flow.write_paused:
            super().data_received(data)
            self._learn(data, end)
            return
        self._arrived_at = perf_counter()
        self._pending = (head, request_id, data[begin:], data)
        self.loop.call_soon(self._answer)

    def _learn(self, data: bytes, end: int) -> None:
        """Remember the head of what the parser has just read, if that was one whole request."""
        if self._fast_app is None or self._midway or self.transport.is_closing():
            return
        if (b"content-length", b"%d" % (len(data) - end - len(_BLANK_LINE))) in self.headers:
            self._fast_app.heads.learn(data[:end], self.headers)

    def _answer(self) -> None:
        if self._pending is None or self._fast_app is None or self.transport.is_closing():
            return
        (head, request_id, body, data), self._pending = self._pending, None
        answer = self._fast_app.fast_answer(self.app_state, head, body, self._arrived_at)
        if answer is None:
            super().data_received(data)
            self._arrived_at = 0.0
            if self._closing:
                super().shutdown()
            return
        self.server_state.total_requests += 1
        more = b"x-request-id: %b\r\n" % request_id if request_id else b""
        if self._closing:
            more += b"connection: close\r\n"
        start = _response_start(self.server_state.default_headers)
        self.transport.write(b"%b%d\r\n%b\r\n%b" % (start, len(answer), more, answer))
        if self._closing:
            self.transport.close()
        elif self.timeout_keep_alive_task is None:
            self._start_keep_alive(self.timeout_keep_alive)
        self._last_used, self._arrived_at = self._arrived_at, 0.0

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._midway = True
        if self._arrived_at:  # the fast path was tried first
            self.scope["arrived_at"] = self._arrived_at

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._midway = False

    def shutdown(self) -> None:
        self._closing = True
        if self._pending is None:
            super().shutdown()

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


_last: tuple[list[tuple[bytes, bytes]], bytes] = ([], b"")


def _response_start(default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """A response up to its length; the server makes a new list of default headers each second."""
    global _last
    if _last[0] is not default_headers:
        fields = [*default_headers, (b"content-type", b"application/json")]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        _last = default_headers, b"HTTP/1.1 200 OK\r\n" + lines + b"content-length: "
    return _last[1]
