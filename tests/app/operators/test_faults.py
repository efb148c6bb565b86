"""Services that are slow, dead, lying or talking nonsense: matches go on, and nothing hangs."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from fastapi.testclient import TestClient

from app.operators.breaker import FAILURES, Breaker
from tests.app.answers import eventually, ok
from tests.app.operators.conftest import campaign, matched, register

TARGETING = "call brand_safety(site.page) >= 0.5"
EVENT = {"attributes": {"site.page": "https://news.example/"}}

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = b'{"results": [0.9]}'


def answer(body: bytes, length: int | None = None) -> bytes:
    return HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) if length is None else length) + body


@contextmanager
def service(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A service on a real socket that reads a request, and then behaves."""
    listening = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        while not done.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    def one(connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65_536):
                    behave(connection)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        done.set()
        listening.close()


def sends(*parts: bytes, close: bool = False) -> Callable[[socket.socket], None]:
    def behave(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        if close:
            connection.shutdown(socket.SHUT_RDWR)

    return behave


def sleeps(connection: socket.socket) -> None:
    time.sleep(5)
    connection.sendall(answer(GOOD))


FAULTS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "slow": (sleeps, "timeout"),
    "hangs up": (sends(close=True), "error"),
    "announces more than it sends": (sends(answer(GOOD, 1000)), "timeout"),
    "announces more and hangs up": (sends(answer(GOOD, 1000), close=True), "error"),
    "announces less than it sends": (sends(answer(GOOD, 5), close=True), "answer"),
    "is not HTTP": (sends(b"garbage garbage garbage\r\n\r\n", close=True), "answer"),
    "is not JSON": (sends(answer(b"<html>")), "answer"),
    "has no results": (sends(answer(b'{"scores": [1]}')), "answer"),
    "has too many results": (sends(answer(b'{"results": [1, 2]}')), "answer"),
    "has another type": (sends(answer(b'{"results": ["high"]}')), "answer"),
    "is not finite": (sends(answer(b'{"results": [1e999]}')), "answer"),
    "is null": (sends(answer(b'{"results": [null]}')), "answer"),
    "is an error": (sends(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), "answer"),
    "redirects": (
        sends(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
        "answer",
    ),
    "is endless": (sends(HEAD + b"\r\n", *([b"x" * 65_536] * 40)), "answer"),
    "has endless headers": (sends(HEAD, *([b"X-A: " + b"x" * 8000 + b"\r\n"] * 20)), "answer"),
}


def test_a_match_goes_on_whatever_a_service_does(calling: TestClient) -> None:
    found: dict[str, object] = {}
    with ExitStack() as services:
        for number, (fault, (behave, _)) in enumerate(FAULTS.items()):
            url = services.enter_context(service(behave))
            register(calling, url, name=f"fault_{number}", timeout_ms=100)
            id = campaign(calling, f"call fault_{number}(site.page) >= 0.5")
            explained = ok(calling.post("/v1/explain", json={"campaign_id": id, **EVENT}))
            found[fault] = explained["calls"][0]["failure"]
        assert found == {fault: reason for fault, (_, reason) in FAULTS.items()}
        always = campaign(calling, "true")
        started = time.monotonic()
        answered = ok(calling.post("/v1/match", json=EVENT | {"limit": 100}))
        assert time.monotonic() - started < 3
        assert (matched(answered), answered["degraded"]) == ([always], True)


def test_a_dead_service_is_left_alone_until_it_is_back(calling: TestClient) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    register(calling, f"http://127.0.0.1:{port}/", cache_seconds=0)
    id = campaign(calling, TARGETING)
    asked = {"campaign_id": id, **EVENT}

    def failure() -> object:
        return ok(calling.post("/v1/explain", json=asked))["calls"][0]["failure"]

    assert [failure() for _ in range(FAILURES)] == ["error"] * FAILURES
    assert failure() == "open"
    with socket.create_server(("127.0.0.1", port)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                while connection.recv(65_536):
                    connection.sendall(answer(GOOD))

        threading.Thread(target=serve, daemon=True).start()
        eventually(lambda: failure() is None)
        assert matched(ok(calling.post("/v1/match", json=EVENT))) == [id]


def test_an_open_circuit_allows_one_attempt_at_a_time() -> None:
    breaker = Breaker()
    for _ in range(FAILURES):
        assert breaker.allows()
        breaker.failed()
    assert not breaker.allows()
    breaker._until = 0.0
    assert breaker.allows()
    assert not breaker.allows()
    breaker.succeeded()
    assert breaker.allows()


def test_a_request_waits_no_longer_than_its_sender(calling: TestClient) -> None:
    with service(sleeps) as url:
        register(calling, url, timeout_ms=3000, budget_ms=3000)
        campaign(calling, TARGETING)
        started = time.monotonic()
        answered = ok(calling.post("/v1/match", json=EVENT | {"tmax_ms": 150}))
        assert time.monotonic() - started < 0.5
        assert answered["degraded"] is True


def test_a_slow_service_keeps_no_other_match_waiting(calling: TestClient) -> None:
    with service(sleeps) as url:
        register(calling, url, timeout_ms=1000)
        campaign(calling, f"country = 'DE' and {TARGETING}")
        always = campaign(calling, "true")
        slow = {"attributes": {**EVENT["attributes"], "country": "DE"}}
        other = threading.Thread(target=lambda: calling.post("/v1/match", json=slow))
        other.start()
        time.sleep(0.1)
        started = time.monotonic()
        assert matched(ok(calling.post("/v1/match", json=EVENT))) == [always]
        assert time.monotonic() - started < 0.5
        other.join()
