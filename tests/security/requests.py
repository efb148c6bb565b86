"""Requests as bytes: good ones, and hostile ones.

head ─▶ request line and headers, which may be broken
body ─▶ from `bodies.py`
frame ─▶ how the end of the body is marked: a length, chunks, both, wrong ones
"""

from dataclasses import dataclass
from random import Random

from tests.security.bodies import GOOD, ROUTES, bad_body, bomb

CRLF = b"\r\n"


@dataclass(frozen=True)
class Case:
    """The pieces to send; with `ends` the client then closes its side.

    `good` requests must be answered with 200 or 204, or with 503 after a long wait.
    """

    name: str
    pieces: tuple[bytes, ...]
    ends: bool = True
    good: int | None = None


def request(route: str, token: str, body: bytes, *headers: bytes, length: bool = True) -> bytes:
    """A correct request, with these headers."""
    lines = [
        b"POST %s HTTP/1.1" % route.encode(),
        b"Host: copse",
        b"Authorization: Bearer " + token.encode(),
        b"Content-Type: application/json",
        *headers,
    ]
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return CRLF.join(lines) + CRLF + CRLF + body


def chunks(random: Random, body: bytes, largest: int = 5000) -> bytes:
    """A body in chunks of random sizes, some with extensions."""
    parts, at = [], 0
    while at < len(body):
        size = random.randint(1, largest)
        piece = body[at : at + size]
        extension = random.choice((b"", b"", b";a=b", b';a="b"'))
        parts.append(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece))
        at += size
    return b"".join(parts) + b"0\r\n\r\n"


def split(random: Random, data: bytes) -> tuple[bytes, ...]:
    """Split data as a network might."""
    if random.random() < 0.7 or len(data) < 2:
        return (data,)
    cuts = sorted(random.sample(range(1, len(data)), min(len(data) - 1, random.randint(1, 6))))
    return tuple(data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True))


class Cases:
    """Cases of one seed."""

    def __init__(self, seed: int, token: str) -> None:
        self.random = Random(seed)
        self.token = token

    def next(self) -> Case:
        """Any case."""
        kinds = (
            self.body,
            self.body,
            self.body,
            self.good,
            self.chunked,
            self.broken_chunks,
            self.lengths,
            self.compressed,
            self.headers,
            self.line,
            self.pipeline,
            self.truncated,
            self.broken_bytes,
        )
        return self.random.choice(kinds)()

    def good(self) -> Case:
        route = self.random.choice(ROUTES)
        return self._case("good", request(route, self.token, GOOD[route]), good=1)

    def body(self) -> Case:
        route = self.random.choice(ROUTES)
        return self._case("body", request(route, self.token, bad_body(self.random, route)))

    def chunked(self) -> Case:
        route = self.random.choice(ROUTES)
        head = request(route, self.token, b"", b"Transfer-Encoding: chunked", length=False)
        if self.random.random() < 0.5:
            return self._case("chunked", head + chunks(self.random, GOOD[route]), good=1)
        body = bad_body(self.random, route)
        return self._case("chunked body", head + chunks(self.random, body))

    def broken_chunks(self) -> Case:
        route = self.random.choice(ROUTES)
        head = request(route, self.token, b"", b"Transfer-Encoding: chunked", length=False)
        wire = chunks(self.random, GOOD[route], 40)
        breaks = (
            wire.replace(b"\r\n", b"\n"),
            wire.replace(b"\r\n", b"\r\n\r\n", 1),
            b"fffffffffffffffff\r\n" + wire,
            b"-5\r\n" + wire,
            b"0x10\r\n" + wire,
            b"zz\r\n" + wire,
            wire[: self.random.randrange(len(wire))],
            wire[:-2] + b"Trailer: x\r\nAuthorization: Bearer y\r\n\r\n",
            wire[:-2] + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
            b"5;" + b"e" * 100_000 + b"\r\n{}   \r\n0\r\n\r\n",
            b"7fffffff\r\n" + b" " * 400_000,
        )
        return self._case("broken chunks", head + self.random.choice(breaks))

    def lengths(self) -> Case:
        route = self.random.choice(ROUTES)
        body = GOOD[route]
        size = len(body)
        lengths = [b"0", b"-1", b"+%d" % size, b"0x%x" % size, b"%d" % (size - 3), b" ", b"1e3"]
        lengths += [b"%d" % (size + 9), b"9" * 30, b"%d, %d" % (size, size), b"%d" % 2**33]
        headers = [b"Content-Length: " + self.random.choice(lengths)]
        if self.random.random() < 0.3:
            headers.append(b"Content-Length: %d" % size)
        if self.random.random() < 0.3:
            headers.append(b"Transfer-Encoding: chunked")
        self.random.shuffle(headers)
        return self._case("length", request(route, self.token, body, *headers, length=False))

    def compressed(self) -> Case:
        encoding, body = bomb(self.random)
        route = self.random.choice(ROUTES)
        header = b"Content-Encoding: " + encoding
        return self._case("compressed", request(route, self.token, body, header))

    def headers(self) -> Case:
        route = self.random.choice(ROUTES)
        extras: tuple[list[bytes], ...] = (
            [b"X-%d: %d" % (n, n) for n in range(self.random.randint(1, 20_000))],
            [b"X: " + b"y" * self.random.randint(1, 200_000)],
            [b"x" * 70_000 + b": y"],
            [b"Authorization: Bearer copse_a_b"],
            [b"Authorization: Basic eDp5"],
            [b"Content-Type: text/plain"],
            [b'Content-Type: application/json; charset="utf-16"'],
            [b"Content-Type: " + self.random.randbytes(40).replace(b"\n", b"")],
            [b"X: a\x00b"],
            [b"X: a", b" folded"],
            [b"no colon"],
            [b": no name"],
            [b"X : y"],
            [b"Expect: 100-continue"],
            [b"Expect: something"],
            [b"Connection: close"],
            [b"Connection: upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13"],
            [b"Connection: upgrade", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQ"],
            [b"Host: other"],
            [b"X-Forwarded-For: " + b"1.1.1.1, " * 3000],
        )
        extra = self.random.choice(extras)
        return self._case("headers", request(route, self.token, GOOD[route], *extra))

    def line(self) -> Case:
        whole = request("/v1/match", self.token, GOOD["/v1/match"])
        _, _, rest = whole.partition(CRLF)
        lines = (
            b"POST /v1/match HTTP/1.0",
            b"POST /v1/match HTTP/0.9",
            b"POST /v1/match HTTP/2.0",
            b"POST /v1/match",
            b"POST  /v1/match  HTTP/1.1",
            b"GET /v1/match HTTP/1.1",
            b"HEAD /v1/match HTTP/1.1",
            b"OPTIONS * HTTP/1.1",
            b"CONNECT copse:80 HTTP/1.1",
            b"PRI * HTTP/2.0",
            b"post /v1/match HTTP/1.1",
            b"POST http://elsewhere/v1/match HTTP/1.1",
            b"POST /v1/../v1/match HTTP/1.1",
            b"POST //v1/match HTTP/1.1",
            b"POST /v1/match/ HTTP/1.1",
            b"POST /v1/match%00 HTTP/1.1",
            b"POST /v1/%6datch HTTP/1.1",
            b"POST /v1/m\xc3\xa4tch HTTP/1.1",
            b"POST /v1/match%ff%fe HTTP/1.1",
            b"POST /docs/assets/..%2f..%2f..%2fpyproject.toml HTTP/1.1",
            b"GET /docs/assets/%2e%2e/%2e%2e/main.py HTTP/1.1",
            b"POST /v1/match?" + b"x=y&" * self.random.randint(1, 40_000) + b" HTTP/1.1",
            b"POST /" + b"a" * self.random.randint(1, 100_000) + b" HTTP/1.1",
            self.random.randbytes(60).replace(b"\n", b""),
        )
        return self._case("line", self.random.choice(lines) + CRLF + rest)

    def pipeline(self) -> Case:
        count = self.random.randint(2, 60)
        routes = self.random.choices(ROUTES, k=count)
        good = b"".join(request(route, self.token, GOOD[route]) for route in routes)
        match self.random.randrange(3):
            case 0:
                return self._case("pipeline", good, good=count)
            case 1:
                return self._case("pipeline, then nonsense", good + self.random.randbytes(100))
            case _:
                bare = b"GET /healthz/live HTTP/1.1\r\nHost: x\r\n\r\n"
                return self._case("a flood", bare * self.random.randint(1000, 30_000))

    def truncated(self) -> Case:
        route = self.random.choice(ROUTES)
        whole = request(route, self.token, GOOD[route])
        return self._case("truncated", whole[: self.random.randrange(len(whole))])

    def broken_bytes(self) -> Case:
        route = self.random.choice(ROUTES)
        changed = bytearray(request(route, self.token, GOOD[route]))
        for _ in range(self.random.randint(1, 6)):
            changed[self.random.randrange(len(changed))] = self.random.randrange(256)
        return self._case("broken bytes", bytes(changed))

    def _case(self, name: str, data: bytes, good: int | None = None) -> Case:
        # What is right is answered while the connection stays open.
        return Case(name, split(self.random, data), good is None, good)
