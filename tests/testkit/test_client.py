"""The client of tests and benchmarks."""

import socket
import threading

from testkit.client import Client

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def _answer_one_request_a_connection(listener: socket.socket) -> None:
    for _ in range(2):
        connection, _address = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(ANSWER)


def test_a_connection_that_the_server_has_closed_is_not_used_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=_answer_one_request_a_connection, args=(listener,))
        server.start()
        with Client(listener.getsockname()[1]) as client:
            assert client.send("GET", "/").status == 200
            while not client._was_closed():  # the end of the connection takes a moment to arrive
                pass
            assert client.send("GET", "/").status == 200
            assert client.connection == 2
        server.join()
