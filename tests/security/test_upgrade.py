"""A request that offers to upgrade is an ordinary request, and its body belongs to it alone."""

import pytest

from tests.security.bodies import GOOD
from tests.security.conftest import Target
from tests.security.requests import request
from tests.security.wire import Wire

OFFER = (
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAA\r\n"
)
WEBSOCKET = (
    b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
)
ROUTES = ("/v1/match", "/v1/match/batch", "/v1/openrtb")


def offering(route: str, token: str, offer: bytes = OFFER) -> tuple[bytes, bytes]:
    """The head and the body of a request with an offer."""
    plain = request(route, token, GOOD[route])
    head, _, body = plain.partition(b"\r\n\r\n")
    return head + b"\r\n" + offer + b"\r\n", body


def statuses(wire: Wire, count: int) -> list[int]:
    answers = [wire.answer() for _ in range(count)]
    return [answer.status for answer in answers if answer is not None]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("offer", [OFFER, WEBSOCKET], ids=["h2c", "websocket"])
def test_it_is_answered_whole_in_two_segments_and_again(
    target: Target, route: str, offer: bytes
) -> None:
    token = target.tokens["match"]
    head, body = offering(route, token, offer)
    with Wire(target.port) as wire:
        wire.send(request(route, token, GOOD[route]))
        plain = wire.answer()
        assert plain is not None
        for segments in (
            (head + body,),
            (head, body),
            (head[:-9], head[-9:] + body),
            *[(head + body,)] * 5,
        ):
            for segment in segments:
                wire.send(segment)
            answer = wire.answer()
            assert answer is not None
            assert (answer.status, answer.body) == (plain.status, plain.body)
            assert "upgrade" not in answer.headers


def test_a_body_is_never_read_as_a_request(target: Target) -> None:
    token = target.tokens["match"]
    smuggled = b"GET /healthz/live HTTP/1.1\r\nHost: x\r\n\r\n"
    head = (
        b"POST /v1/match HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n%b\r\n"
        % (token.encode(), len(smuggled), OFFER)
    )
    for segments in ((head + smuggled,), (head, smuggled)):
        with Wire(target.port) as wire:
            for segment in segments:
                wire.send(segment)
            wire.send(request("/v1/match", token, GOOD["/v1/match"]))
            assert statuses(wire, 1) == [400]
            answer = wire.answer()
            assert answer is not None
            assert answer.body.startswith(b'{"matches"')


def test_offers_may_be_pipelined_and_in_chunks(target: Target) -> None:
    token = target.tokens["match"]
    head, body = offering("/v1/match", token)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    chunked = b"\r\n".join([lines[0], b"Transfer-Encoding: chunked", *lines[1:]])
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    with Wire(target.port) as wire:
        wire.send((head + body) * 3 + chunked + chunks)
        assert statuses(wire, 4) == [200] * 4


def test_an_offer_does_not_keep_a_connection_open_that_is_to_be_closed(target: Target) -> None:
    offer = OFFER.replace(b"Connection: ", b"Connection: close, ")
    head, body = offering("/v1/match", target.tokens["match"], offer)
    with Wire(target.port) as wire:
        wire.send(head + body)
        assert [answer.status for answer in wire.answers()] == [200]


def test_connect_is_refused(target: Target) -> None:
    with Wire(target.port) as wire:
        wire.send(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n")
        assert [answer.status for answer in wire.answers()] == [400]
