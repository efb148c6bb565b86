"""Slow clients: the service stops waiting for them, and others are not affected."""

import json
import threading
import time
from collections.abc import Iterator

import pytest

from testkit.processes import memory_of
from tests.security.bodies import GOOD
from tests.security.conftest import Target
from tests.security.fuzz_http import REQUEST_SECONDS, service
from tests.security.requests import request
from tests.security.wire import Answer, Wire

LONGEST = REQUEST_SECONDS + 10
MANY = 200


@pytest.fixture
def whole(target: Target) -> bytes:
    return request("/v1/match", target.tokens["match"], GOOD["/v1/match"])


def trickle(wire: Wire, data: bytes) -> tuple[Answer | None, float]:
    """Send single bytes until there is an answer; returns it with the seconds."""
    started = time.monotonic()
    stop = threading.Event()

    def send() -> None:
        for at in range(len(data)):
            if stop.wait(0.1) or not wire.send(data[at : at + 1]):
                return

    sending = threading.Thread(target=send)
    sending.start()
    try:
        return wire.answer(), time.monotonic() - started
    finally:
        stop.set()
        sending.join()


ROUTES = ("/v1/match", "/v1/campaigns", "/v1/campaigns/import")


def beginnings(token: str, route: str) -> dict[str, bytes]:
    """Incomplete requests, by how far they get."""
    sent = request(route, token, b"{" + b" " * 1000 + b"}")
    if route == "/v1/campaigns/import":
        sent = sent.replace(b"application/json", b"application/x-ndjson")
    end_of_head = sent.index(b"\r\n\r\n") + 4
    return {
        "nothing": b"",
        "half a head": sent[: end_of_head // 2],
        "a head": sent[:end_of_head],
        "half a body": sent[: end_of_head + 10],
    }


def test_a_request_has_to_arrive_in_time(target: Target) -> None:
    wires = []
    for route in ROUTES:
        for begun, sent in beginnings(target.tokens["all"], route).items():
            wires.append((route, begun, Wire(target.port, LONGEST)))
            wires[-1][2].send(sent)
    for route, begun, wire in wires:
        with wire:
            answer = wire.answer()
            if route == "/v1/campaigns/import" and begun in ("a head", "half a body"):
                # It has begun to answer when it hangs up.
                assert answer is None, (route, begun)
                continue
            assert answer is not None, (route, begun)
            assert answer.status == json.loads(answer.body)["status"] == 408
            assert wire.answer() is None


def test_a_byte_now_and_then_is_not_enough(target: Target, whole: bytes) -> None:
    with Wire(target.port, LONGEST) as wire:
        answer, seconds = trickle(wire, whole)
    assert answer is not None
    assert answer.status == 408
    assert seconds < LONGEST


def test_a_refused_request_cannot_go_on_for_ever(target: Target) -> None:
    """It is answered with 401 before its body arrives; the body is read and discarded only for a
    while."""
    sent = request("/v1/match", "copse_no_key", b" " * 10_000)
    end_of_head = sent.index(b"\r\n\r\n") + 4
    with Wire(target.port, LONGEST) as wire:
        wire.send(sent[:end_of_head])
        first = wire.answer()
        assert first is not None
        assert first.status == 401
        after, seconds = trickle(wire, sent[end_of_head:])
    assert seconds < LONGEST
    assert after is None or after.status == 408


def test_an_import_may_take_long_if_it_goes_on(target: Target) -> None:
    token = target.tokens["all"].encode()
    head = (
        b"POST /v1/campaigns/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token
    ) + b"\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Wire(target.port, LONGEST) as wire:
        wire.send(head)
        until = time.monotonic() + 1.5 * REQUEST_SECONDS
        while time.monotonic() < until:
            assert wire.send(b"5\r\nnope\n\r\n")
            time.sleep(REQUEST_SECONDS / 4)
        wire.send(b"0\r\n\r\n")
        answer = wire.answer()
    assert answer is not None
    assert answer.status == 200
    assert answer.body.count(b'"outcome":"failed"') > 4


def test_many_slow_clients_do_not_keep_others_waiting(target: Target, whole: bytes) -> None:
    slow = [Wire(target.port) for _ in range(MANY)]
    try:
        for wire in slow:
            wire.send(whole[:20])
        with Wire(target.port, LONGEST) as wire:
            for _ in range(50):
                wire.send(whole)
                answer = wire.answer()
                assert answer is not None
                assert answer.status == 200
        for wire in slow:
            answer = wire.answer()
            assert answer is not None
            assert answer.status == 408
    finally:
        for wire in slow:
            wire.socket.close()


@pytest.fixture(scope="module")
def own() -> Iterator[Target]:
    """A service that only this module uses, to measure its memory."""
    with service() as found:
        yield Target(*found)


ENDLESS = {
    "a header": (b"POST /v1/match HTTP/1.1\r\nX: ", b"y" * 65536, 431),
    "headers": (b"POST /v1/match HTTP/1.1\r\n", b"x: y\r\n" * 10_000, 431),
    "a path": (b"POST /", b"y" * 65536, 431),
    "a trailer": (
        b"POST /v1/match HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
        b"y" * 65536,
        401,
    ),
    "trailers": (
        b"POST /v1/match HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        b"x: y\r\n" * 10_000,
        401,
    ),
    "requests": (b"", b"GET /healthz/live HTTP/1.1\r\n\r\n" * 5_000, 200),
    "empty lines": (b"", b"\r\n" * 32_768, 431),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_has_no_end_is_cut_off(own: Target, name: str) -> None:
    begins, goes_on, status = ENDLESS[name]
    before = memory_of(own.served.process.pid)
    with Wire(own.port, LONGEST) as wire:
        wire.send(begins)
        sent = 0
        while sent < 256 * 2**20 and wire.send(goes_on):
            sent += len(goes_on)
            assert memory_of(own.served.process.pid) < before + 48 * 2**20
        assert sent < 64 * 2**20, "the service does not close the connection"
        answer = wire.answer()
    # A client that goes on sending may miss the answer.
    assert answer is None or answer.status == status


def test_who_does_not_read_is_left(own: Target) -> None:
    """Request the large, public document again and again without reading it."""
    before = memory_of(own.served.process.pid)
    ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    wires = [Wire(own.port) for _ in range(20)]
    try:
        for wire in wires:
            wire.send(ask * 100)
        until = time.monotonic() + LONGEST + 10
        left = set(wires)
        while left and time.monotonic() < until:
            left = {wire for wire in left if wire.send(b"\r\n")}
            time.sleep(0.2)
        assert not left
    finally:
        for wire in wires:
            wire.socket.close()
    assert memory_of(own.served.process.pid) < before + 64 * 2**20
