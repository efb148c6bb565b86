"""The request parser: httptools', which a client's `Upgrade` must not confuse.

Java's HttpClient and `curl --http2` offer to upgrade to h2c with every request. We do not take the
offer, so the request is an ordinary one (RFC 9110, section 7.8). But httptools stops after the head
of such a request and leaves its body to the other protocol: the body would be lost, or read as the
next request. So that head is parsed again without the offer, by a new parser, and its body follows.
"""

from typing import Any, Protocol

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

_OFFER = {b"upgrade", b"http2-settings"}
"""The headers of an offer, and their names in the `Connection` header."""


class Callbacks(Protocol):
    """What the parser calls, and what it has seen of the request head."""

    url: bytes
    headers: list[tuple[bytes, bytes]]


class RequestParser:
    """Has the methods of `HttpRequestParser` that uvicorn uses."""

    def __init__(self, callbacks: Callbacks) -> None:
        self._callbacks = callbacks
        self._parser = self._new()

    def _new(self) -> Any:
        parser = HttpRequestParser(self._callbacks)
        parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.get_http_version = parser.get_http_version
        self.get_method = parser.get_method
        self.should_keep_alive = parser.should_keep_alive
        self.should_upgrade = parser.should_upgrade
        return parser

    def feed_data(self, data: bytes) -> None:
        """Parse what was received."""
        while True:
            try:
                self._parser.feed_data(data)
                return
            except HttpParserUpgrade as upgrade:
                (parsed,) = upgrade.args
                data = self._head_without_offer() + data[parsed:]
                self._parser = self._new()

    def _head_without_offer(self) -> bytes:
        method = self.get_method()
        if method == b"CONNECT":  # always an upgrade, whatever its headers are
            raise HttpParserError("CONNECT is not supported")
        lines = [b"%b %b HTTP/%b" % (method, self._callbacks.url, self.get_http_version().encode())]
        for name, value in self._callbacks.headers:
            if name == b"connection":
                tokens = [token.strip() for token in value.split(b",")]
                value = b", ".join(token for token in tokens if token.lower() not in _OFFER)
            if name not in _OFFER and (value or name != b"connection"):
                lines.append(b"%b: %b" % (name, value))
        return b"\r\n".join([*lines, b"\r\n"])
