"""The proxy is a good network until it is set to another mode."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults.proxy import DEAF, HANG, PASS, REFUSE, Network, Proxy

SECONDS = 10


@contextmanager
def echoing() -> Iterator[int]:
    """A server that echoes what it receives, on a port."""

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                while piece := connection.recv(100):
                    connection.sendall(piece)
            except OSError:
                pass  # it was reset

    def accept(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # it is over
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=accept, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(SECONDS)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with echoing() as port, Network() as network:
        yield network.proxy(port)


def connected(proxy: Proxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=SECONDS)


def said(connection: socket.socket, what: bytes) -> bytes:
    connection.sendall(what)
    return connection.recv(100)


def test_it_passes_on_what_is_said(proxy: Proxy) -> None:
    with connected(proxy) as one, connected(proxy) as other:
        assert said(one, b"one") == b"one"
        assert said(other, b"other") == b"other"
        assert said(one, b"again") == b"again"


def test_a_cut_resets_everybody_and_the_next_may_come(proxy: Proxy) -> None:
    with connected(proxy) as one:
        assert said(one, b"one") == b"one"
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            one.recv(100)
    with connected(proxy) as another:
        assert said(another, b"two") == b"two"


def test_it_refuses(proxy: Proxy) -> None:
    with connected(proxy) as one:
        assert said(one, b"one") == b"one"
        proxy.turn(REFUSE)
        with pytest.raises(ConnectionResetError):
            one.recv(100)
    with pytest.raises(ConnectionResetError), connected(proxy) as another:
        another.recv(100)
    proxy.turn(PASS)
    with connected(proxy) as another:
        assert said(another, b"two") == b"two"


@pytest.mark.parametrize("mode", [HANG, DEAF])
def test_nothing_comes_back_and_then_it_is_reset(proxy: Proxy, mode: str) -> None:
    with connected(proxy) as one:
        assert said(one, b"one") == b"one"
        proxy.turn(mode)
        one.settimeout(0.2)
        with pytest.raises(TimeoutError):
            said(one, b"two")
        one.settimeout(SECONDS)
        proxy.turn(PASS)
        with pytest.raises(ConnectionResetError):
            one.recv(100)
    with connected(proxy) as another:
        assert said(another, b"two") == b"two"


def test_it_is_slow(proxy: Proxy) -> None:
    with connected(proxy) as one:
        proxy.delay = 0.1
        begin = time.monotonic()
        assert said(one, b"one") == b"one"
        assert time.monotonic() - begin >= 0.2  # there and back


def test_it_knows_whose_a_connection_is(proxy: Proxy) -> None:
    with connected(proxy) as one:
        assert said(one, b"one") == b"one"
        (server,) = proxy._links.values()
        port = server.get_extra_info("sockname")[1]
        assert proxy.client_of(port) == one.getsockname()[1]
        assert proxy.client_of(1) is None
