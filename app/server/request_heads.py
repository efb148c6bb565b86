"""Request heads that were parsed before: an ad server sends the same one again and again.

    POST /v1/match HTTP/1.1␍␊Host: …␍␊Authorization: Bearer …␍␊Content-Length: 512␍␊␍␊{"attributes"…
    └───────── the head, known by its bytes ────────────────┘  └ the length ──┘    └── the body

Equal bytes have the same meaning, so a known head need not be parsed again. The line with the
length of the body is left out of the comparison: it must be there, and say what follows the head.
(Otherwise the first requests of a client would all take the normal path, until each length has
come twice.) A head becomes known only if the server's own parser accepted it, if its API key is
valid, and if it has no header whose meaning is not handled here: such requests take the normal
path.
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
_PER_REQUEST = (b"content-length", b"x-request-id", b"traceparent", b"tracestate")
_PER_REQUEST_LINES = re.compile(
    rb"\r\n(?i:content-length:[ \t]*([0-9]+)|x-request-id:[ \t]*(%b)|"
    rb"(?:traceparent|tracestate):[^\r\n]*)(?=\r\n(?![ \t]))" % ALPHABET
)
_LINE_BREAK = b"\r\n"
_FOLDED = re.compile(rb"\r\n[ \t]")


@dataclass(slots=True)
class RequestHead:
    """What a head says; treat it as immutable."""

    authorization: bytes
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
    """Heads by their bytes, without the lines that differ in each request.

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

    def find(self, data: bytes, end: int) -> tuple[RequestHead | None, bytes]:
        """The known head of one whole request, and its request id; `end` is that of its head."""
        head = data[: end + len(_LINE_BREAK)]
        length = len(data) - end - len(BLANK_LINE)
        if length > MAX_BODY_BYTES:
            return None, b""
        # As most clients write it, and those that write names in lower case.
        for line in (b"\r\nContent-Length: %d\r\n", b"\r\ncontent-length: %d\r\n"):
            rest = head.replace(line % length, _LINE_BREAK, 1)
            known = self._known.get(rest)
            if known is not None and len(rest) < len(head):
                return known, b""
        return self._find_cut(head, b"%d" % length)

    def _find_cut(self, head: bytes, length: bytes) -> tuple[RequestHead | None, bytes]:
        lengths: list[bytes] = []
        ids: list[bytes] = []

        def cut(line: re.Match[bytes]) -> bytes:
            if line[1]:
                lengths.append(line[1])
            elif line[2]:
                ids.append(line[2])
            return b""

        known = self._known.get(_PER_REQUEST_LINES.sub(cut, head))
        if lengths != [length] or len(ids) > 1:
            return None, b""
        return known, b"".join(ids)

    def learn(self, data: bytes, end: int, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Remember the head of a whole request, with the headers that the parser found in it."""
        head = data[: end + len(_LINE_BREAK)]
        if len(head) > self.LONGEST or not head.startswith(FIRST_LINE) or _FOLDED.search(head):
            return
        lengths = [value for name, value in headers if name == b"content-length"]
        if lengths != [b"%d" % (len(data) - end - len(BLANK_LINE))]:
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
    authorization = found.pop(b"authorization", b"")
    gzip = accepts_gzip(found.get(b"accept-encoding", b""))
    plain = (
        found.pop(b"content-type", b"") == b"application/json"
        and found.pop(b"connection", b"keep-alive").lower() == b"keep-alive"
        and found.keys() <= _WITHOUT_MEANING
    )
    return RequestHead(authorization, gzip) if plain and authorization else None
