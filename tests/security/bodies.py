"""Bodies for the match routes: good ones, and hostile variations."""

import gzip
import json
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

ROUTES = ("/v1/match", "/v1/match/batch", "/v1/openrtb")

_MATCH: dict[str, Any] = {
    "attributes": {"country": "US", "age": 30, "segments": [12, 99], "geo.lat": 52.5},
    "limit": 10,
    "exclude": {"campaigns": [7], "advertisers": []},
    "log": True,
}
_BID: dict[str, Any] = {
    "id": "80ce30c53c16e6ede735f123ef6e32361bfc7b22",
    "imp": [{"id": "1", "banner": {"w": 300, "h": 250, "format": [{"w": 1, "h": 2}]}}],
    "site": {"domain": "daily.news", "cat": ["IAB1"], "page": "http://daily.news/1"},
    "device": {"devicetype": 4, "geo": {"country": "USA", "lat": 1.5}, "ip": "203.0.113.7"},
    "user": {"id": "u-1", "yob": 1990, "data": [{"id": "p", "segment": [{"id": "12"}]}]},
    "regs": {"gdpr": 0},
}
GOOD: dict[str, bytes] = {
    "/v1/match": json.dumps(_MATCH).encode(),
    "/v1/match/batch": json.dumps({"requests": [_MATCH, {"attributes": {}}]}).encode(),
    "/v1/openrtb": json.dumps(_BID).encode(),
}

WORDS: tuple[bytes, ...] = (
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e999",
    b"-1e-999",
    b"9" * 5000,
    b"0." + b"1" * 5000,
    b"9223372036854775808",
    b"-0",
    b"01",
    b"1e5",
    b'"\\ud800"',
    b'"\\u0000"',
    b'"\xff\xfe"',
    b'"\xc0\xaf"',
    b'"\xed\xa0\x80"',
    b'"' + "é".encode() * 1000 + b'"',
    b'"\\u' + b"1" * 4 + b'"',
    b'"' + b"A" * 70_000 + b'"',
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[" * 2000 + b"]" * 2000,
    b'{"a":' * 500 + b"1" + b"}" * 500,
    b"[" * 100_000,
    b"[" + b"1," * 20_000 + b"1]",
    b"[" + b'"a",' * 20_000 + b"null]",
    b'{"a":1,"a":2}',
    b"/* */",
    b"'x'",
    b"\xef\xbb\xbf{}",
    b"",
)


def replace_value(random: Random, body: bytes) -> bytes:
    """Replace a value by a word."""
    places = [at for at, byte in enumerate(body) if byte in b":,["]
    at = random.choice(places) + 1 if places else 0
    ends = [end for end in (body.find(mark, at) for mark in (b",", b"}", b"]")) if end >= 0]
    return body[:at] + random.choice(WORDS) + body[min(ends, default=len(body)) :]


def repeat_keys(random: Random, body: bytes) -> bytes:
    """An object nested in itself many times."""
    inside = body.strip()[1:-1]
    return b"{" + b",".join([inside] * random.randint(2, 20)) + b"}"


def many_keys(random: Random, _: bytes) -> bytes:
    keys = ",".join(f'"k{random.randrange(10**9)}":{n}' for n in range(random.randint(1, 5000)))
    return f'{{"attributes":{{{keys}}}}}'.encode()


def flip(random: Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(random.randint(1, 8)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def cut(random: Random, body: bytes) -> bytes:
    return body[: random.randrange(len(body))]


def slice_again(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body))
    piece = body[start : start + random.randint(1, 50)]
    at = random.randrange(len(body))
    return body[:at] + piece * random.randint(1, 40) + body[at:]


def noise(random: Random, _: bytes) -> bytes:
    return random.randbytes(random.randint(0, 3000))


def large(random: Random, body: bytes) -> bytes:
    """Bodies of about the largest allowed size."""
    return body + b" " * max(0, 256 * 1024 + random.randint(-2, 2) - len(body))


def other_route(random: Random, _: bytes) -> bytes:
    return GOOD[random.choice(ROUTES)]


def a_word(random: Random, _: bytes) -> bytes:
    return random.choice(WORDS)


CHANGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    replace_value,
    replace_value,
    replace_value,
    repeat_keys,
    many_keys,
    flip,
    cut,
    slice_again,
    noise,
    large,
    other_route,
    a_word,
)


def bad_body(random: Random, route: str) -> bytes:
    """A good body, changed once or twice."""
    body = GOOD[route]
    for _ in range(random.randint(1, 2)):
        body = random.choice(CHANGES)(random, body) or b" "
    return body[: 600 * 1024]


def bomb(random: Random) -> tuple[bytes, bytes]:
    """The name of an encoding, and a small body that expands to a large one."""
    zeros = b"0" * random.randint(1, 8_000_000)
    match random.choice(("gzip", "deflate", "br", "zstd", "gzip, gzip")):
        case "gzip":
            return b"gzip", gzip.compress(zeros, 1)
        case "deflate":
            return b"deflate", zlib.compress(zeros, 1)
        case other:
            return other.encode(), random.randbytes(500)
