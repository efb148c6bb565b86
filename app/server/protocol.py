"""How a request arrives: notes when it came, which ASGI does not say, and bounds what it may take.

What was read from the sockets in one turn of the event loop is handled in the next, one after the
other; the last of them has then waited for all the others. So deadlines count from here.

Neither uvicorn nor its parser has a bound for the head of a request, for what follows the last
chunk of a body, or for how many requests wait in one connection; these are here. For how long a
request may take to arrive, see `patience.py`.
"""

import asyncio
from http import HTTPStatus
from time import perf_counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.errors.handlers import problem_bytes
from app.errors.problems import MEDIA_TYPE, Problem
from campaigns.keys.model import MAX_BODY_BYTES

MAX_HEAD_BYTES = 32 * 1024
MAX_CHUNKED_BYTES = 8 * MAX_BODY_BYTES
"""What a body in chunks may take on the wire: a chunk of one byte takes six."""

PIECE = 16 * 1024
"""More than this at once is looked at piece by piece."""

MAX_PIPELINED = 128


class NotingProtocol(HttpToolsProtocol):
    """Puts the moment into the scope, as `came` (`perf_counter`).

    A route that reads a body of any length puts `heard` there, too: the moment since which it waits
    for more, or infinity while it does not.
    """

    # Both are None before the first request, which uvicorn's types deny.
    cycle: Any
    scope: Any

    opened = 0.0
    """When the connection was."""
    loose = 0
    """So many bytes came that were not seen to lead anywhere: of a head, or in chunks."""
    chunked = False
    heard: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.opened = perf_counter()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["came"] = perf_counter()
        self.loose = 0
        self.chunked = False

    def on_chunk_header(self) -> None:
        # Fields that follow the last chunk would otherwise stand among the headers, unchecked by
        # whatever is in front of us, and without end.
        self.headers = []
        self.chunked = True

    def data_received(self, data: bytes) -> None:
        if len(data) > PIECE:
            self._take_pieces(data)
        else:
            self._take(data)

    def _take(self, data: bytes) -> None:
        super().data_received(data)
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope or self.chunked:
            self._count(len(data))

    def _take_pieces(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            self._take(data[start : start + PIECE])
            if self.transport.is_closing():
                return
            if len(self.pipeline) > MAX_PIPELINED:
                self.transport.close()
                return

    def _count(self, size: int) -> None:
        self.loose += size
        if self.cycle is None or self.cycle.scope is not self.scope:
            if self.loose > MAX_HEAD_BYTES:
                status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                self.refuse(status, f"The head of a request has at most {MAX_HEAD_BYTES} bytes.")
            return
        heard = self.scope.get("heard")
        if heard != self.heard:
            self.heard, self.loose = heard, 0
        elif self.loose > MAX_CHUNKED_BYTES:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            self.refuse(status, f"The body is larger than {MAX_BODY_BYTES} bytes.")

    def send_400_response(self, msg: str) -> None:
        self.refuse(HTTPStatus.BAD_REQUEST, "This is not a request of HTTP/1.1.")

    def refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answer and hang up; only hang up, where another answer is due first or is begun."""
        cycle = self.cycle
        is_free = cycle is None or cycle.response_complete
        is_its_own = not is_free and cycle.scope is self.scope and not cycle.response_started
        if not self.transport.is_closing() and (is_free or is_its_own) and not self.pipeline:
            body = problem_bytes(Problem(title=status.phrase, status=status, detail=detail))
            head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            rest = f"{head}x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + rest.encode() + body)
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()
