"""Request heads that were parsed before: an ad server sends the same one again and again.

    POST /v1/match HTTP/1.1␍␊Host: …␍␊Authorization: Bearer …␍␊Content-Length: 512␍␊␍␊{"attributes"…
    └───────────────────────── the head, known by its bytes ─────────────────────┘    └── the body

Equal bytes have the same meaning, so a known head need not be parsed again. A head becomes known
only if the server's own parser accepted it, if its API key is valid, and if it has no header whose
meaning is not handled here: such requests take the normal path.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.match.compression import accepts_gzip
from app.middleware.request_id import ALPHABET
from campaigns.keys.model import MAX_BODY_BYTES

BLANK_LINE = b"\r\n\r\n"
FIRST_LINE = b"POST /v1/match HTTP/1.1\r\n"

# Any other header may have a meaning: a chunked or compressed body, an origin (CORS), a connection
# that closes.
_WITHOUT_MEANING = frozenset(
    {b"host", b"user-agent", b"accept", b"accept-encoding", b"accept-language"}
)

# These differ in each request. A line includes the line break before it, and is complete: the next
# line does not continue it.
_PER_REQUEST = (b"x-request-id", b"traceparent", b"tracestate")
_PER_REQUEST_LINES = re.compile(
    rb"\r\n(?i:x-request-id:[ \t]*(%b)|(?:traceparent|tracestate):[^\r\n]*)(?=\r\n(?![ \t])|\Z)"
    % ALPHABET
)


@dataclass(slots=True)
class RequestHead:
    """What a head says; treat it as immutable."""

    authorization: bytes
    length: int
    """Of the body."""

    gzip: bool = False
    """Whether the client accepts it."""


# What decides where a request ends, in ways that only the parser knows, or needs its own headers in
# the response.
_NOT_PLAIN = (b"transfer-encoding", b"upgrade", b"expect", b"\r\norigin:", b"\r\n ", b"\r\n\t")


def path_of_whole(data: bytes, end: int) -> bytes:
    """The path of a POST, if `data` is one whole request whose length is beyond doubt, or empty;
    `end` is that of its head. Such a request may be refused before it is parsed."""
    head = data[:end].lower()
    line, _, fields = head.partition(b"\r\n")
    if not line.startswith(b"post ") or not line.endswith(b" http/1.1"):
        return b""
    before, _, rest = fields.partition(b"content-length:")
    length = rest.partition(b"\r\n")[0].strip(b" ")
    plain = (
        (not before or before.endswith(b"\r\n"))
        and length.isdigit()
        and int(length) == len(data) - end - len(BLANK_LINE)
        and b"content-length" not in before + rest
        and head.count(b"\n") == head.count(b"\r\n")
        and not any(word in head for word in _NOT_PLAIN)
    )
    return data[5 : len(line) - 9] if plain else b""


class KnownHeads:
    """Heads by their bytes.

    A head is kept when it arrives for the second time: one with a value that never comes back would
    only displace others.
    """

    MOST = 4096
    LONGEST = 2048

    def __init__(self, is_valid: Callable[[bytes], bool]) -> None:
        """`is_valid` says whether an `Authorization` header has led to a key."""
        self._is_valid = is_valid
        self._known: dict[bytes, RequestHead] = {}
        self._seen: set[int] = set()
        self.get = self._known.get

    def find(self, head: bytes) -> tuple[RequestHead | None, bytes]:
        """The known head without its per-request lines, and the request id in these; `get` finds
        heads that have no such lines."""
        ids: list[bytes] = []

        def cut(line: re.Match[bytes]) -> bytes:
            if line[1]:
                ids.append(line[1])
            return b""

        known = self._known.get(_PER_REQUEST_LINES.sub(cut, head))
        return (known, b"".join(ids)) if len(ids) < 2 else (None, b"")

    def learn(self, head: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Remember a head, with the headers that the parser found in it."""
        if len(head) > self.LONGEST or not head.startswith(FIRST_LINE):
            return
        head, lines = _PER_REQUEST_LINES.subn(b"", head)
        common = [header for header in headers if header[0] not in _PER_REQUEST]
        if len(headers) - len(common) != lines:
            return
        parsed = _parse(common)
        if parsed is None or not self._is_valid(parsed.authorization):
            return
        seen = hash(head)
        if seen not in self._seen:
            if len(self._seen) >= self.MOST:
                self._seen.clear()
            self._seen.add(seen)
            return
        if len(self._known) >= self.MOST:
            self._known.clear()
        self._known[head] = parsed


def _parse(headers: Sequence[tuple[bytes, bytes]]) -> RequestHead | None:
    """The head, if the headers say no more than a match needs, and each appears once."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in found:
            return None
        found[name] = value
    length = found.pop(b"content-length", b"")
    authorization = found.pop(b"authorization", b"")
    gzip = accepts_gzip(found.get(b"accept-encoding", b""))
    plain = (
        found.pop(b"content-type", b"") == b"application/json"
        and found.pop(b"connection", b"keep-alive").lower() == b"keep-alive"
        and found.keys() <= _WITHOUT_MEANING
    )
    if not plain or not length.isdigit() or not authorization:
        return None
    if int(length) > MAX_BODY_BYTES:
        return None
    return RequestHead(authorization, int(length), gzip)
