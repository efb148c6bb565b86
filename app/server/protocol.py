"""One HTTP connection: when its requests arrive, and the limits that uvicorn does not have.

All that was read from the sockets in one turn of the event loop is handled in the next turn, one
request after the other, so the last one has waited for all the others. ASGI has no arrival time;
this protocol adds it to the scope, and deadlines count from there.

Neither uvicorn nor its parser limits the head of a request, the fields after the last chunk of a
body, the number of pipelined requests, or the time that a client takes. `HttpProtocol` limits the
sizes. `SlowClients` limits the times: it looks at every connection once a second, so that a request
itself pays nothing.
"""

import asyncio
import re
from collections.abc import Iterable
from http import HTTPStatus
from time import perf_counter
from typing import Any
from urllib.parse import unquote

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.errors.handlers import problem_bytes
from app.errors.problems import MEDIA_TYPE, Problem
from app.server.parser import RequestParser
from app.server.responses import CLOSE
from campaigns.keys.model import MAX_BODY_BYTES

MAX_HEAD_BYTES = 32 * 1024
MAX_CHUNKED_BYTES = 8 * MAX_BODY_BYTES
"""The bytes of a chunked body on the wire: a chunk of one byte takes six."""

PIECE = 16 * 1024
"""A read that is larger is parsed piece by piece."""

MAX_PIPELINED = 128

IDLE_SECONDS = 1.0
"""When the server ends, a connection that has been idle for this long is closed."""

_ENCODED_SLASH = re.compile("%2F", re.IGNORECASE)


class HttpProtocol(HttpToolsProtocol):
    """Adds `arrived_at` to the scope: the `perf_counter` of a request's first byte.

    A route that reads a body of any length sets `reading_since` in the scope: the time since which
    it has waited for more of the body, or infinity while it does not wait.
    """

    # Both are None before the first request, although uvicorn's types say otherwise.
    cycle: Any
    scope: Any

    connected_at = 0.0
    unparsed = 0
    """Bytes that have not completed anything yet: of a request head, or of a chunked body."""

    _piece = 0
    """Bytes that are being parsed."""

    _head_too_large = False
    chunked = False
    reading_since: float | None = None

    _due: tuple[Any, ...] = ()
    """The requests whose responses are not complete, or just became so."""

    _closing = False
    """The server is about to end, or leaves its clients to other workers."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.parser: Any = RequestParser(self)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.connected_at = perf_counter()
        if CLOSE in self.server_state.default_headers:  # it was accepted as the last one
            self.shutdown()

    def shutdown(self) -> None:
        """Close the connection after its next response, or when it is idle.

        A client that has just used it may be sending the next request at this moment, which would
        be lost. So it gets a response first, with `Connection: close`.
        """
        self._closing = True
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._close_after(cycle)
        elif not self.transport.is_closing():
            left = self.used_at() + IDLE_SECONDS - perf_counter()
            if left > 0:
                self.loop.call_later(left, self.shutdown)
            else:
                self.transport.close()

    def _close_after(self, cycle: Any) -> None:
        """Let a response be the last one, and say so."""
        cycle.keep_alive = False
        if CLOSE not in cycle.default_headers:
            cycle.default_headers = [*cycle.default_headers, CLOSE]

    def used_at(self) -> float:
        """When the last request began, or now if it has not arrived completely."""
        if self.scope is None:
            return self.connected_at
        if self.cycle is None or self.cycle.scope is not self.scope:
            return perf_counter()
        arrived_at: float = self.scope["arrived_at"]
        return arrived_at

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["arrived_at"] = perf_counter()
        self.unparsed = 0
        self.chunked = False

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # the parser comes again, without the offer
        if self.unparsed + self._piece > MAX_HEAD_BYTES and self._head_size() > MAX_HEAD_BYTES:
            self._head_too_large = True
            raise HttpParserError  # the parser must not go on
        super().on_headers_complete()
        self._due = (*(each for each in self._due if not each.response_complete), self.cycle)
        if self._closing:
            self._close_after(self.cycle)
        if b"%2" in self.url:
            # A slash that is encoded is no slash of the path (RFC 3986, section 2.2).
            raw_path = self.scope["raw_path"].decode("ascii")
            self.scope["path"] = unquote(_ENCODED_SLASH.sub("%252F", raw_path))

    def _head_size(self) -> int:
        start = len(self.parser.get_method()) + len(self.url) + len("  HTTP/1.1\r\n")
        return start + sum(len(name) + len(value) + 4 for name, value in self.headers) + 2

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_chunk_header(self) -> None:
        # Fields after the last chunk would otherwise be added to the headers. No proxy in front of
        # us has checked them, and there is no limit to them.
        self.headers = []
        self.chunked = True

    def data_received(self, data: bytes) -> None:
        if len(data) > PIECE:
            self._parse_pieces(data)
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        self._piece = len(data)
        super().data_received(data)
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope or self.chunked:
            self._check_size(len(data))

    def _parse_pieces(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            self._parse(data[start : start + PIECE])
            if self.transport.is_closing():
                return
            if len(self.pipeline) > MAX_PIPELINED:
                self.transport.close()
                return

    def _check_size(self, size: int) -> None:
        self.unparsed += size
        if self.cycle is None or self.cycle.scope is not self.scope:
            if self.unparsed > MAX_HEAD_BYTES:
                self._refuse_head()
            return
        reading_since = self.scope.get("reading_since")
        if reading_since != self.reading_since:
            self.reading_since, self.unparsed = reading_since, 0
        elif self.unparsed > MAX_CHUNKED_BYTES:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            self.refuse(status, f"The body is larger than {MAX_BODY_BYTES} bytes.")

    def _refuse_head(self) -> None:
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        self.refuse(status, f"The request head is larger than {MAX_HEAD_BYTES} bytes.")

    def send_400_response(self, msg: str) -> None:
        if self._head_too_large:
            self._refuse_head()
            return
        self.refuse(HTTPStatus.BAD_REQUEST, "This is not a valid HTTP/1.1 request.")

    def refuse(self, status: HTTPStatus, detail: str) -> None:
        """Send a problem and close the connection; only close it if another response is due first
        or has started."""
        cycle = self.cycle
        is_free = cycle is None or cycle.response_complete
        is_its_own = not is_free and cycle.scope is self.scope and not cycle.response_started
        if not self.transport.is_closing() and (is_free or is_its_own) and not self.pipeline:
            body = problem_bytes(Problem(title=status.phrase, status=status, detail=detail))
            head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            rest = f"{head}x-content-type-options: nosniff\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[status] + rest.encode() + body)
        self._disconnect()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disconnect()
        super().connection_lost(exc)

    def _disconnect(self) -> None:
        """Let all responses go nowhere. Of pipelined requests, uvicorn knows only the last."""
        for cycle in self._due:
            if not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def is_stuck(self) -> bool:
        """Whether the client does not read its response; the client of an import may send
        everything first."""
        if self.transport.is_closing():
            return True
        return self.flow.write_paused and "reading_since" not in (self.scope or ())

    def waiting_since(self) -> float | None:
        """Since when we have waited for more of a request; None if we do not wait, or if uvicorn's
        own keep-alive timer runs."""
        cycle, scope = self.cycle, self.scope
        if scope is None:
            # The fast path may have answered: it makes no scope.
            return self.connected_at if self.timeout_keep_alive_task is None else None
        arrived_at: float = scope["arrived_at"]
        if cycle is None or cycle.scope is not scope:
            return arrived_at
        if cycle.response_complete:
            return arrived_at if self.timeout_keep_alive_task is None else None
        if cycle.more_body and not self.pipeline:
            reading_since: float | None = scope.get("reading_since")
            return arrived_at if reading_since is None else reading_since
        return None


class SlowClients:
    """Closes connections whose clients are too slow.

    A client has `seconds` to send a request, head and body, and as many to read the response. Where
    a route reads a body of any length, they count for each pause.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._stuck: dict[HttpProtocol, float] = {}
        """Connections whose clients do not read, and since when."""

    def close(self, connections: Iterable[HttpProtocol], now: float) -> None:
        """Close the connections that are too slow at `now` (`perf_counter`)."""
        stuck: dict[HttpProtocol, float] = {}
        for connection in list(connections):
            if connection.is_stuck():
                stuck[connection] = since = self._stuck.get(connection, now)
                if now - since > self.seconds:
                    connection.transport.abort()
                continue
            waiting = connection.waiting_since()
            if waiting is not None and now - waiting > self.seconds:
                detail = f"The request did not arrive within {self.seconds:g} seconds."
                connection.refuse(HTTPStatus.REQUEST_TIMEOUT, detail)
        self._stuck = stuck
