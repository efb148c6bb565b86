"""Which heads of match requests are known by their bytes, and which never."""

import pytest

from app.server.request_heads import KnownHeads

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
