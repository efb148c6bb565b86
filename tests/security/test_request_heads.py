"""The start of a request: its path and its size are what they say."""

import pytest

from app.server.protocol import MAX_HEAD_BYTES
from tests.security.conftest import Target
from tests.security.wire import Wire


def status(target: Target, *segments: bytes) -> int:
    with Wire(target.port) as wire:
        for segment in segments:
            wire.send(segment)
        answer = wire.answer()
        assert answer is not None
        return answer.status


def get(path: str, token: str) -> bytes:
    lines = (f"GET {path} HTTP/1.1", "Host: evil.example", f"Authorization: Bearer {token}")
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()


def padded(size: int) -> bytes:
    """A request head of exactly so many bytes."""
    start, end = b"GET /healthz/live HTTP/1.1\r\nHost: x\r\nPadding: ", b"\r\n\r\n"
    return start + b"x" * (size - len(start) - len(end)) + end


@pytest.mark.parametrize("cut", [None, 1, 20_000, MAX_HEAD_BYTES - 1])
def test_the_limit_of_a_head_is_exact(target: Target, cut: int | None) -> None:
    for size, expected in ((MAX_HEAD_BYTES, 200), (MAX_HEAD_BYTES + 1, 431)):
        head = padded(size)
        assert len(head) == size
        assert status(target, *([head] if cut is None else [head[:cut], head[cut:]])) == expected
    assert status(target, padded(MAX_HEAD_BYTES + 12_000)) == 431


@pytest.mark.parametrize("path", ["/v1%2fcampaigns", "/v1%2Fcampaigns", "/%2fv1/campaigns"])
def test_an_encoded_slash_is_no_slash(target: Target, path: str) -> None:
    assert status(target, get(path, target.tokens["all"])) == 404
    assert status(target, get("/v1/%63ampaigns", target.tokens["all"])) == 200


def test_a_match_route_has_no_other_spelling(target: Target) -> None:
    for path, expected in (("/v1/match", 200), ("/v1%2fmatch", 404)):
        head = get(path, target.tokens["match"]).replace(b"GET", b"POST", 1)
        body = b'{"attributes": {}}'
        fields = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        assert status(target, head[:-2] + fields + body) == expected


@pytest.mark.parametrize("path", ["/", "/docs/", "/v1/campaigns/", "/healthz/live/"])
def test_no_answer_names_the_host_that_a_client_made_up(target: Target, path: str) -> None:
    with Wire(target.port) as wire:
        wire.send(get(path, target.tokens["all"]))
        answer = wire.answer()
    assert answer is not None
    assert b"evil.example" not in answer.body
    assert "evil.example" not in str(answer.headers)
