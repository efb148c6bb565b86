"""Heads of match requests that were read once: an ad server sends the same one again and again.

    POST /v1/match HTTP/1.1␍␊Host: …␍␊Authorization: Bearer …␍␊Content-Length: 512␍␊␍␊{"attributes"…
    └───────────────────────────── the head, known by its bytes ─────────────────┘    └── the body

Equal bytes mean the same, so whoever has a known head in front of it need not read it again. Known
is only what the server's own parser took, what has a key that counted, and what has no header with
a meaning that is not looked at here: such requests go the whole way.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.middleware.request_id import ALPHABET
from campaigns.keys.model import MAX_BODY_BYTES

FIRST_LINE = b"POST /v1/match HTTP/1.1\r\n"

# A header that is none of these may mean something to somebody: a body in chunks or compressed,
# an origin, a connection that ends.
_WITHOUT_MEANING = frozenset(
    {b"host", b"user-agent", b"accept", b"accept-encoding", b"accept-language"}
)

# Other in each request. A line goes with the line break before it, and is whole: what follows is
# not its continuation.
_OWN = (b"x-request-id", b"traceparent", b"tracestate")
_OWN_LINES = re.compile(
    rb"\r\n(?i:x-request-id:[ \t]*(%b)|(?:traceparent|tracestate):[^\r\n]*)(?=\r\n(?![ \t])|\Z)"
    % ALPHABET
)


@dataclass(slots=True)
class Head:
    """What a head says; nobody changes it."""

    authorization: bytes
    length: int
    """Of the body."""


class KnownHeads:
    """By their bytes. A head is kept when it comes for the second time: one with a value that is
    never sent again would only take the place of others."""

    MOST = 4096
    LONGEST = 2048

    def __init__(self, counts: Callable[[bytes], bool]) -> None:
        """`counts` says whether a header `Authorization` has led to a key."""
        self._counts = counts
        self._known: dict[bytes, Head] = {}
        self._seen: set[int] = set()
        self.get = self._known.get

    def find(self, head: bytes) -> tuple[Head | None, bytes]:
        """A head that is known but for the lines that each request has its own of, and the id in
        them; `get` finds those without such lines."""
        ids: list[bytes] = []

        def cut(line: re.Match[bytes]) -> bytes:
            if line[1]:
                ids.append(line[1])
            return b""

        known = self._known.get(_OWN_LINES.sub(cut, head))
        return (known, b"".join(ids)) if len(ids) < 2 else (None, b"")

    def learn(self, head: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep a head that has been read, with the headers that were found in it."""
        if len(head) > self.LONGEST or not head.startswith(FIRST_LINE):
            return
        head, lines = _OWN_LINES.subn(b"", head)
        common = [header for header in headers if header[0] not in _OWN]
        if len(headers) - len(common) != lines:
            return
        found = _read(common)
        if found is None or not self._counts(found.authorization):
            return
        seen = hash(head)
        if seen not in self._seen:
            if len(self._seen) >= self.MOST:
                self._seen.clear()
            self._seen.add(seen)
            return
        if len(self._known) >= self.MOST:
            self._known.clear()
        self._known[head] = found


def _read(headers: Sequence[tuple[bytes, bytes]]) -> Head | None:
    """What they say, if they say no more than a match needs, and each but once."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in found:
            return None
        found[name] = value
    length = found.pop(b"content-length", b"")
    authorization = found.pop(b"authorization", b"")
    plain = (
        found.pop(b"content-type", b"") == b"application/json"
        and found.pop(b"connection", b"keep-alive").lower() == b"keep-alive"
        and found.keys() <= _WITHOUT_MEANING
    )
    if not plain or not length.isdigit() or not authorization:
        return None
    if int(length) > MAX_BODY_BYTES:
        return None
    return Head(authorization, int(length))
