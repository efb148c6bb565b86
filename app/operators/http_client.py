"""Posts JSON to a service that is not trusted: bounded in time and size, no redirects.

A connection is used again if the service keeps it open. The answer must be complete: a service that
announces more than it sends, or sends more than is allowed, gives an error and not a result.
"""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

import httptools

MOST_BYTES = 1 << 20
MOST_HEADER_BYTES = 1 << 14
MOST_IDLE = 8
OK = 200


class BadAnswer(Exception):
    """The service answered something that is not an answer."""


class _Response:
    """What httptools calls with the parts of a response."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.is_complete = False
        self.keeps_open = False
        self.header_bytes = 0
        self.parser = httptools.HttpResponseParser(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.header_bytes += len(name) + len(value)
        if self.header_bytes > MOST_HEADER_BYTES:
            raise BadAnswer("the headers are too long")

    def on_body(self, body: bytes) -> None:
        self.body += body
        if len(self.body) > MOST_BYTES:
            raise BadAnswer(f"the answer has more than {MOST_BYTES} bytes")

    def on_message_complete(self) -> None:
        self.is_complete = True
        self.keeps_open = self.parser.should_keep_alive()  # it knows only now


class HttpClient:
    """Posts to one URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        self._tls = parts.scheme == "https"
        self._port = parts.port or (443 if self._tls else 80)
        target = parts.path or "/"
        self._target = f"{target}?{parts.query}" if parts.query else target
        self._authority = parts.netloc
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    def is_at(self, hosts: frozenset[str]) -> bool:
        """Whether one of these is its host, or its host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return not hosts.isdisjoint({self.host, f"{host}:{self._port}"})

    async def post(self, body: bytes) -> bytes:
        """The body of a 200 response; `OSError` or `BadAnswer` otherwise. The caller limits the
        time: a cancelled request closes its connection."""
        request = (
            f"POST {self._target} HTTP/1.1\r\nHost: {self._authority}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode() + body
        while self._idle:
            reader, writer = self._idle.pop()
            if reader.at_eof() or writer.is_closing():
                writer.close()
                continue
            with suppress(ConnectionError):  # it was closed while idle
                return await self._exchange(reader, writer, request)
        reader, writer = await asyncio.open_connection(
            self.host, self._port, ssl=self._tls or None, limit=MOST_HEADER_BYTES
        )
        return await self._exchange(reader, writer, request)

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
    ) -> bytes:
        response = _Response()
        parser = response.parser
        is_good = False
        try:
            writer.write(request)
            while not response.is_complete:
                data = await reader.read(MOST_HEADER_BYTES)
                if not data:
                    raise ConnectionResetError("the service closed the connection")
                try:
                    parser.feed_data(data)
                except httptools.HttpParserError as error:
                    cause = error.__context__
                    raise cause if isinstance(cause, BadAnswer) else BadAnswer(str(error)) from None
            if parser.get_status_code() != OK:
                raise BadAnswer(f"the service answered {parser.get_status_code()}")
            is_good = True
            return bytes(response.body)
        finally:
            if is_good and response.keeps_open and len(self._idle) < MOST_IDLE:
                self._idle.append((reader, writer))
            else:
                writer.close()

    def close(self) -> None:
        """Close idle connections."""
        while self._idle:
            self._idle.pop()[1].close()
