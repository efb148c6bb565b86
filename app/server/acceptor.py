"""Accepts connections: all that wait, in every turn of the event loop.

uvloop accepts one in a turn. Under load a turn takes milliseconds, so connections would wait in the
kernel for minutes, where nobody can see how old they are, and clients that have long gone would be
answered first.

A connection whose first bytes are a whole match request waits in the match queue as a bare socket.
Its transport and protocol are made only if it is answered.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from uvicorn.server import ServerState

from app.server.fast_path import MATCH, FastPathApp, FastPathProtocol
from app.server.request_heads import BLANK_LINE, path_of_whole
from app.server.responses import refusal

log = logging.getLogger(__name__)

MOST_IN_A_TURN = 100
PAUSE_SECONDS = 0.1
"""How long it waits when the process has too many open files."""

_BUFFER = 16 * 1024


class Acceptor:
    """The connections of one listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], FastPathProtocol],
        server_state: ServerState,
        app: FastPathApp | None,
        state: dict[str, object],
    ) -> None:
        self.server_state = server_state
        self.app = app
        self.state = state
        self._listener = listener
        self._make_protocol = make_protocol
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = False

    def start(self) -> None:
        """Accept connections from now on."""
        self._listener.setblocking(False)
        self._open = True
        self._loop.add_reader(self._listener, self._accept)

    def pause(self) -> None:
        """Leave the connections to other workers."""
        self._open = False
        self._loop.remove_reader(self._listener)

    def stop(self) -> None:
        """Accept what waits, and nothing more."""
        while self._open and self._accept():
            pass
        self.pause()

    def is_busy(self) -> bool:
        """Whether an accepted connection has no protocol yet."""
        return bool(self._tasks) or (self.app is not None and len(self.app.queue) > 0)

    def _accept(self) -> bool:
        """Accept many; True if more may wait."""
        for _ in range(MOST_IN_A_TURN):
            try:
                connection, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return False
            except OSError as error:
                log.error("cannot accept a connection: %s", error.strerror)
                self._pause()
                return False
            self._take(connection)
        return True

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener)

        def go_on() -> None:
            if self._open:
                self._loop.add_reader(self._listener, self._accept)

        self._loop.call_later(PAUSE_SECONDS, go_on)

    def _take(self, connection: socket.socket) -> None:
        if self.app is None:
            self.serve(connection)
            return
        try:
            data = connection.recv(_BUFFER, socket.MSG_DONTWAIT)
        except BlockingIOError:  # the client has sent nothing yet
            self.serve(connection)
            return
        except OSError:
            data = b""
        if not data:
            connection.close()
            return
        path = self._match_path(data, self.app)
        if path:
            now = perf_counter()
            self.app.queue.add(now, _NewConnection(self, connection, path, data, now))
        else:
            self.serve(connection, data)

    def _match_path(self, data: bytes, app: FastPathApp) -> bytes:
        """The path of a whole match request; empty if it is something else."""
        end = data.find(BLANK_LINE)
        if end < 0:
            return b""
        if app.heads.find(data, end)[0] is not None:
            return MATCH
        path = path_of_whole(data, end)
        return path if path in app.routes else b""

    def serve(self, connection: socket.socket, first: bytes = b"", arrived_at: float = 0.0) -> None:
        """Make a transport and a protocol; `first` has been read from the connection."""
        protocol = self._make_protocol()
        protocol.first = first, arrived_at
        task = self._loop.create_task(self._connect(protocol, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, protocol: FastPathProtocol, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: protocol, connection)
        except OSError:  # the client has gone
            connection.close()


class _NewConnection:
    """A connection without a transport, whose first request waits in the queue."""

    __slots__ = ("_acceptor", "_arrived_at", "_connection", "_data", "_path")

    def __init__(
        self,
        acceptor: Acceptor,
        connection: socket.socket,
        path: bytes,
        data: bytes,
        arrived_at: float,
    ) -> None:
        self._acceptor = acceptor
        self._connection = connection
        self._path = path
        self._data = data
        self._arrived_at = arrived_at

    def answer(self) -> bool:
        # A client that has only closed its own direction still reads, so nobody is left without an
        # answer while there is time for all.
        app = self._acceptor.app
        if app is not None and app.queue.is_overloaded and self._has_gone():
            self._connection.close()
            return False
        self._acceptor.serve(self._connection, self._data, self._arrived_at)
        return True

    def _has_gone(self) -> bool:
        try:
            return not self._connection.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except OSError as error:
            return not isinstance(error, BlockingIOError)

    def shed(self, waited: float) -> None:
        acceptor = self._acceptor
        assert acceptor.app is not None
        problem = acceptor.app.refusal(acceptor.state, self._path, waited)
        response = refusal(acceptor.server_state.default_headers, b"", problem, close=True)
        with suppress(OSError):
            self._connection.send(response, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        self._connection.close()
