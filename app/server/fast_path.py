"""The short way of a match through the server: one read, one write, no task in between.

    data_received ──┬── a known head, and the whole body    at_once ──▶ one write
                    └── everything else                     uvicorn's parser, a task, ASGI

uvicorn makes an event, a task and a dozen objects for each request, whatever the application does;
that is several times what a match needs. Where an application can answer some requests at once
(`Shortcut`) this protocol asks it, in the next turn of the event loop, like a task: so what was
read in one turn is answered in the order in which it came, and `came` tells how long it has waited.

Whatever is not plain goes the whole way: a body in pieces, pipelining, a client that does not read,
and also everything that the application does not answer at once: it then reads the same bytes as if
nothing had been tried.
"""

import asyncio
from time import perf_counter
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from app.server.protocol import NotingProtocol
from app.server.request_heads import Head, KnownHeads

_BLANK_LINE = b"\r\n\r\n"


class Shortcut(Protocol):
    """An application that answers some requests at once."""

    heads: KnownHeads

    def at_once(self, state: dict[str, Any], head: Head, body: bytes, came: float) -> bytes | None:
        """The body of the answer 200, or None for the whole way; it must not fail."""


class ShortcutProtocol(NotingProtocol):
    """Of one connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._shortcut = cast(Shortcut, config.app) if hasattr(config.app, "at_once") else None
        self._midway = False
        """The parser has seen the beginning of a request and not its end."""

        self._asked: tuple[Head, bytes, bytes, bytes] | None = None
        """A request that is to be answered in this turn: its head, id and body, all its bytes."""

        self._came = 0.0
        """When that came; 0 where none is on its way."""

        self._ending = False
        self._touched = 0.0

    def data_received(self, data: bytes) -> None:
        if self._shortcut is None:
            super().data_received(data)
            return
        if self._asked is not None:
            self._answer()  # it came first
        cycle = self.cycle  # None at first, whatever its type says
        busy = self._midway or (cycle and not cycle.response_complete)
        end = -1 if busy else data.find(_BLANK_LINE)
        if end < 0:
            super().data_received(data)
            return
        id = b""
        head = self._shortcut.heads.get(data[:end])
        if head is None:
            head, id = self._shortcut.heads.find(data[:end])
        begin = end + len(_BLANK_LINE)
        if head is None or len(data) != begin + head.length or self.flow.write_paused:
            super().data_received(data)
            self._learn(data, end)
            return
        self._came = perf_counter()
        self._asked = (head, id, data[begin:], data)
        self.loop.call_soon(self._answer)

    def _learn(self, data: bytes, end: int) -> None:
        """What was just read, if it was one whole request."""
        if self._shortcut is None or self._midway or self.transport.is_closing():
            return
        if (b"content-length", b"%d" % (len(data) - end - len(_BLANK_LINE))) in self.headers:
            self._shortcut.heads.learn(data[:end], self.headers)

    def _answer(self) -> None:
        if self._asked is None or self._shortcut is None or self.transport.is_closing():
            return
        (head, id, body, data), self._asked = self._asked, None
        answer = self._shortcut.at_once(self.app_state, head, body, self._came)
        if answer is None:
            super().data_received(data)
            self._came = 0.0
            if self._ending:
                super().shutdown()
            return
        self.server_state.total_requests += 1
        more = b"x-request-id: %b\r\n" % id if id else b""
        if self._ending:
            more += b"connection: close\r\n"
        beginning = _beginning(self.server_state.default_headers)
        self.transport.write(b"%b%d\r\n%b\r\n%b" % (beginning, len(answer), more, answer))
        if self._ending:
            self.transport.close()
        elif self.timeout_keep_alive_task is None:
            self._keep_alive(self.timeout_keep_alive)
        self._touched, self._came = self._came, 0.0

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._midway = True
        if self._came:  # it was tried at once, and has waited since
            self.scope["came"] = self._came

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._midway = False

    def shutdown(self) -> None:
        self._ending = True
        if self._asked is None:
            super().shutdown()

    def timeout_keep_alive_handler(self) -> None:
        # Moving the timer at each request would cost as much as half of a match.
        left = self._touched + self.timeout_keep_alive - perf_counter()
        if self._asked is not None or left > 0:
            self._keep_alive(max(left, 1.0))
        else:
            super().timeout_keep_alive_handler()

    def _keep_alive(self, seconds: float) -> None:
        after = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(seconds, after)


_last: tuple[list[tuple[bytes, bytes]], bytes] = ([], b"")


def _beginning(default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """An answer up to its length; the server has another list of headers each second."""
    global _last
    if _last[0] is not default_headers:
        fields = [*default_headers, (b"content-type", b"application/json")]
        lines = b"".join(b"%b: %b\r\n" % field for field in fields)
        _last = default_headers, b"HTTP/1.1 200 OK\r\n" + lines + b"content-length: "
    return _last[1]
