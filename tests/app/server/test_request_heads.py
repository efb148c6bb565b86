"""Which heads of match requests are known by their bytes, and which never."""

import pytest

from app.server.request_heads import KnownHeads, path_of_whole

KEY = b"Bearer copse_1_2"
PLAIN = ((b"Host", b"copse"), (b"Content-Type", b"application/json"))
NEEDED = (*PLAIN, (b"Authorization", KEY), (b"Content-Length", b"17"))


def head_of(
    headers: tuple[tuple[bytes, bytes], ...], first: bytes = b"POST /v1/match HTTP/1.1"
) -> bytes:
    return b"\r\n".join([first, *(b"%b: %b" % header for header in headers)])


def learned(headers: tuple[tuple[bytes, bytes], ...], times: int = 2, **other: bytes) -> KnownHeads:
    """What is known after a head came so often."""
    heads = KnownHeads(lambda header: header == KEY)
    for _ in range(times):
        read = [(name.lower(), value) for name, value in headers]
        heads.learn(head_of(headers, **other), read)
    return heads


def test_a_head_is_known_from_the_second_time_on() -> None:
    assert learned(NEEDED, times=1).get(head_of(NEEDED)) is None
    found = learned(NEEDED).get(head_of(NEEDED))
    assert found is not None
    assert (found.authorization, found.length) == (KEY, 17)


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
    ],
)
def test_what_may_mean_something_is_not_known(header: tuple[bytes, bytes]) -> None:
    headers = (*NEEDED, header)
    heads = learned(headers)
    assert heads.get(head_of(headers)) is None
    assert heads.find(head_of(headers)) == (None, b"")


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
    assert learned(headers).get(head_of(headers)) is None


@pytest.mark.parametrize("first", [b"GET /v1/match HTTP/1.1", b"POST /v1/match HTTP/1.0"])
def test_other_requests_are_not_known(first: bytes) -> None:
    assert learned(NEEDED, first=first).get(head_of(NEEDED, first)) is None


def test_ids_of_requests_do_not_tell_heads_apart() -> None:
    own = (
        (b"X-Request-ID", b"a-1"),
        (b"traceparent", b"00-" + b"a" * 32 + b"-" + b"b" * 16 + b"-01"),
    )
    heads = learned((NEEDED[0], *own, *NEEDED[1:]))
    known = heads.get(head_of(NEEDED))
    assert known is not None
    assert heads.find(head_of((*NEEDED, (b"x-request-id", b"b/2")))) == (known, b"b/2")
    assert heads.find(head_of((*own, *NEEDED))) == (known, b"a-1")
    assert heads.find(head_of((*own, *NEEDED, own[0]))) == (None, b"")


def test_a_line_that_goes_on_in_the_next_is_left_alone() -> None:
    heads = learned(NEEDED)
    folded = head_of((NEEDED[0], (b"traceparent", b"1\r\n 2"), *NEEDED[1:]))
    assert heads.find(folded) == (None, b"")


def test_there_are_never_too_many() -> None:
    heads = KnownHeads(lambda _: True)
    heads.MOST = 3
    for length in range(10):
        headers = [*NEEDED[:-1], (b"content-length", b"%d" % length)]
        for _ in range(2):
            heads.learn(head_of(tuple(headers)), [(name.lower(), value) for name, value in headers])
        assert heads.get(head_of(tuple(headers)))
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
