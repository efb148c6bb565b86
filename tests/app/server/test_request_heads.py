"""Which heads of match requests are known by their bytes, and which never."""

import pytest

from app.server.request_heads import KnownHeads, RequestHead, path_of_whole
from campaigns.keys.model import MAX_BODY_BYTES

KEY = b"Bearer copse_1_2"
PLAIN = ((b"Host", b"copse"), (b"Content-Type", b"application/json"))
NEEDED = (*PLAIN, (b"Authorization", KEY), (b"Content-Length", b"17"))


def request_of(
    headers: tuple[tuple[bytes, bytes], ...],
    first: bytes = b"POST /v1/match HTTP/1.1",
    length: int = 17,
) -> bytes:
    lines = [first, *(b"%b: %b" % header for header in headers)]
    return b"\r\n".join([*lines, b"", b"x" * length])


def learned(headers: tuple[tuple[bytes, bytes], ...], times: int = 2, **other: bytes) -> KnownHeads:
    """What is known after a head came so often."""
    heads = KnownHeads(lambda header: header == KEY)
    for _ in range(times):
        learn(heads, headers, **other)
    return heads


def learn(
    heads: KnownHeads,
    headers: tuple[tuple[bytes, bytes], ...],
    first: bytes = b"POST /v1/match HTTP/1.1",
) -> None:
    data = request_of(headers, first)
    read = [(name.lower(), value) for name, value in headers]
    heads.learn(data, data.index(b"\r\n\r\n"), read)


def find(heads: KnownHeads, data: bytes) -> tuple[RequestHead | None, bytes]:
    return heads.find(data, data.index(b"\r\n\r\n"))


def test_a_head_is_known_from_the_second_time_on() -> None:
    assert find(learned(NEEDED, times=1), request_of(NEEDED)) == (None, b"")
    found, _ = find(learned(NEEDED), request_of(NEEDED))
    assert found is not None
    assert found.authorization == KEY


@pytest.mark.parametrize("name", [b"Content-Length", b"content-length", b"CONTENT-length"])
def test_a_head_is_known_with_a_body_of_any_length(name: bytes) -> None:
    heads = learned(NEEDED)
    known = find(heads, request_of(NEEDED))
    assert known[0] is not None
    for length in (0, 1, 170, 5000):
        line = (name, b"%d" % length)
        for headers in ((*NEEDED[:-1], line), (line, *NEEDED[:-1])):
            assert find(heads, request_of(headers, length=length)) == known


@pytest.mark.parametrize(
    ("line", "length"),
    [
        (b"Content-Length: 18", 17),
        (b"Content-Length: 1", 17),
        (b"Content-Length: 17", 1),
        (b"Content-Length: 017", 17),
        (b"Content-Length: +17", 17),
        (b"Content-Length: 17 ", 17),
        (b"Content-Length: 17x", 17),
        (b"Content-Length: 17\r\n 0", 17),
        (b"Content-Length: 17\r\nContent-Length: 17", 17),
        (b"Content-Length: 17\r\nContent-Length: 18", 17),
        (b"content-length: 18\r\nContent-Length: 17", 17),
        (b"Content-Length:", 17),
        (b"X-Content-Length: 17", 17),
        (b"Content-Length : 17", 17),
        (b"Content-Length: %d" % (MAX_BODY_BYTES + 1), MAX_BODY_BYTES + 1),
    ],
)
def test_the_length_is_beyond_doubt(line: bytes, length: int) -> None:
    heads = learned(NEEDED)
    request = request_of(NEEDED, length=length).replace(b"Content-Length: 17", line)
    assert find(heads, request) == (None, b"")
    assert find(heads, request.replace(b"\r\n" + line, b"")) == (None, b"")
    for _ in range(2):  # nor does the same head teach it another meaning
        heads.learn(request, request.index(b"\r\n\r\n"), [(b"content-length", b"17")])
    assert find(heads, request) == (None, b"")


def test_a_length_inside_another_line_is_none() -> None:
    agent = (b"User-Agent", b"abcd")
    heads = learned((*NEEDED[:-1], agent, NEEDED[-1]))
    request = request_of((*NEEDED[:-1], agent))
    assert find(heads, request) == (None, b"")
    torn = request.replace(b"abcd", b"ab\r\nContent-Length: 17cd")
    assert find(heads, torn) == (None, b"")


@pytest.mark.parametrize(
    "header",
    [
        (b"Transfer-Encoding", b"chunked"),
        (b"Connection", b"close"),
        (b"Content-Encoding", b"gzip"),
        (b"Expect", b"100-continue"),
        (b"Origin", b"https://example.com"),
        (b"Content-Length", b"17"),
        (b"Authorization", KEY),
        (b"X-Request-Id", b"not an id"),
        (b"User-Agent", b"folded\r\n line"),
    ],
)
def test_what_may_mean_something_is_not_known(header: tuple[bytes, bytes]) -> None:
    headers = (*NEEDED, header)
    assert find(learned(headers), request_of(headers)) == (None, b"")


@pytest.mark.parametrize(
    "headers",
    [
        PLAIN,
        (*PLAIN, (b"Authorization", b"Bearer somebody"), (b"Content-Length", b"17")),
        (*NEEDED[:-1], (b"Content-Length", b"+17")),
        ((b"Content-Type", b"text/plain"), *NEEDED[2:]),
    ],
)
def test_what_lacks_something_is_not_known(headers: tuple[tuple[bytes, bytes], ...]) -> None:
    assert find(learned(headers), request_of(headers)) == (None, b"")


@pytest.mark.parametrize("first", [b"GET /v1/match HTTP/1.1", b"POST /v1/match HTTP/1.0"])
def test_other_requests_are_not_known(first: bytes) -> None:
    assert find(learned(NEEDED, first=first), request_of(NEEDED, first)) == (None, b"")


def test_ids_of_requests_do_not_tell_heads_apart() -> None:
    own = (
        (b"X-Request-ID", b"a-1"),
        (b"traceparent", b"00-" + b"a" * 32 + b"-" + b"b" * 16 + b"-01"),
    )
    heads = learned((NEEDED[0], *own, *NEEDED[1:]))
    known, _ = find(heads, request_of(NEEDED))
    assert known is not None
    assert find(heads, request_of((*NEEDED, (b"x-request-id", b"b/2")))) == (known, b"b/2")
    assert find(heads, request_of((*own, *NEEDED))) == (known, b"a-1")
    assert find(heads, request_of((*own, *NEEDED, own[0]))) == (None, b"")


def test_a_line_that_goes_on_in_the_next_is_left_alone() -> None:
    heads = learned(NEEDED)
    folded = request_of((NEEDED[0], (b"traceparent", b"1\r\n 2"), *NEEDED[1:]))
    assert find(heads, folded) == (None, b"")


def test_there_are_never_too_many() -> None:
    heads = KnownHeads(lambda _: True)
    heads.MOST = 3
    for number in range(10):
        headers = ((b"User-Agent", b"%d" % number), *NEEDED)
        for _ in range(2):
            learn(heads, headers)
        assert find(heads, request_of(headers))[0]
        assert len(heads._known) <= 3


WHOLE = b"POST /v1/openrtb HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


def path_of(data: bytes) -> bytes:
    return path_of_whole(data, data.index(b"\r\n\r\n"))


def test_a_whole_request_has_a_path() -> None:
    assert path_of(WHOLE) == b"/v1/openrtb"
    assert path_of(WHOLE.replace(b"Content-Length", b"content-LENGTH")) == b"/v1/openrtb"


@pytest.mark.parametrize(
    "doubtful",
    [
        WHOLE + b"G",
        WHOLE[:-1],
        WHOLE.replace(b"POST", b"PUT"),
        WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"),
        WHOLE.replace(b"Host: x", b"Transfer-Encoding: chunked"),
        WHOLE.replace(b"Host: x", b"Host: x\nTransfer_Encoding: chunked"),
        WHOLE.replace(b"Host: x", b"Content-Length: 2"),
        WHOLE.replace(b"Host: x", b"Content-Length : 3"),
        WHOLE.replace(b"Length: 2", b"Length: +2"),
        WHOLE.replace(b"Length: 2", b"Length: 2, 2"),
        WHOLE.replace(b"Length: 2", b"Length: 2\r\n 0"),
        WHOLE.replace(b"Content-Length", b"X-Content-Length"),
        WHOLE.replace(b"Content-Length: 2\r\n", b""),
        WHOLE.replace(b"Host: x", b"Expect: 100-continue"),
        WHOLE.replace(b"Host: x", b"Upgrade: h2c"),
        WHOLE.replace(b"Host: x", b"Origin: https://a.example"),
    ],
)
def test_only_the_parser_decides_where_a_doubtful_one_ends(doubtful: bytes) -> None:
    assert path_of(doubtful) == b""
