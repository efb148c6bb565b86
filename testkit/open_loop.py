"""Sends requests on a fixed schedule, however many are still unanswered: an overload.

    python -m testkit.open_loop PORT FILE TOKEN PATIENCE KEPT|FRESH RATE:SECONDS…

Unlike `constant_rate`, it never waits for a connection: it opens another one. `FRESH` opens one for
each request; `KEPT` uses an idle one if there is one. A client that has no answer after PATIENCE
milliseconds gives up and closes its connection. Times count from when a request was due. A RATE of
0 is a closed loop of 16 clients, which finds the capacity. The result is one line of JSON: one
object for each phase of the schedule, and the CPU that this process took.
"""

import select
import socket
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time

from testkit.child import Message, tell
from testkit.client import HOST
from testkit.constant_rate import milliseconds, request_of

_SOURCES = 16
"""Addresses to connect from: each has its own ports, and a closed connection keeps its port."""

_CLOSED_LOOP = 16
_IP_BIND_ADDRESS_NO_PORT = 24
_OK, _REFUSED = b"200", b"503"
_BUFFER = 1 << 16


@dataclass
class Phase:
    """What became of the requests of one phase; times are in seconds."""

    rate: float
    seconds: float
    sent: int = 0
    answers: list[float] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    gave_up: int = 0
    lost: int = 0
    """The connection broke, or the answer was another one."""

    late: float = 0.0
    """How late a request was sent, at most."""

    def result(self) -> Message:
        """The counts, and the percentiles in milliseconds."""
        answers, refusals = sorted(self.answers), sorted(self.refusals)
        return {
            "rate": self.rate,
            "seconds": self.seconds,
            "requests": self.sent,
            "answered": len(answers),
            "goodput": round(len(answers) / self.seconds, 1),
            "refused": len(refusals),
            "gave_up": self.gave_up,
            "lost": self.lost,
            "p50_ms": milliseconds(answers, 0.5),
            "p99_ms": milliseconds(answers, 0.99),
            "refused_p50_ms": milliseconds(refusals, 0.5),
            "refused_p99_ms": milliseconds(refusals, 0.99),
            "sent_late_ms": round(1000 * self.late, 1),
        }


@dataclass(slots=True, eq=False)
class _Connection:
    socket: socket.socket
    phase: Phase
    due: float = 0.0
    unsent: bytes = b""
    received: bytes = b""
    open: bool = True


class OpenLoop:
    """The clients of one server."""

    def __init__(self, port: int, requests: list[bytes], patience: float, keep: bool) -> None:
        self._address = (HOST, port)
        self._requests = requests
        self._patience = patience
        self._keep = keep
        self._epoll = select.epoll()
        self._by_fd: dict[int, _Connection] = {}
        self._idle: deque[_Connection] = deque()
        self._waiting: deque[tuple[float, _Connection]] = deque()
        """Requests in the order in which they were sent, with when they were due."""

        self._sent = 0
        self._unanswered = 0

    def run(self, phases: list[Phase]) -> None:
        """Send every phase, then wait for the last answers."""
        start = perf_counter() + 0.01
        for phase in phases:
            end = start + phase.seconds
            if phase.rate:
                self._send_all(phase, start, end)
            else:
                self._saturate(phase, end)
            start = end
        while self._waiting:
            self._turn(0.01)

    def _send_all(self, phase: Phase, due: float, end: float) -> None:
        while due < end:
            now = perf_counter()
            if now < due:
                self._turn(due - now)
                continue
            phase.late = max(phase.late, now - due)
            self._send(phase, due)
            due += 1 / phase.rate
            if phase.sent % 8 == 0:
                self._turn(0)

    def _saturate(self, phase: Phase, end: float) -> None:
        while (now := perf_counter()) < end:
            while self._unanswered < _CLOSED_LOOP:
                self._send(phase, now)
            self._turn(0.01)

    def _send(self, phase: Phase, due: float) -> None:
        phase.sent += 1
        self._sent += 1
        try:
            connection = self._idle.popleft() if self._idle else self._connect(phase)
        except OSError:
            phase.lost += 1
            return
        connection.phase, connection.due = phase, due
        connection.received = b""
        connection.unsent = self._requests[self._sent % len(self._requests)]
        self._unanswered += 1
        self._waiting.append((due, connection))
        self._push(connection)

    def _connect(self, phase: Phase) -> _Connection:
        made = socket.socket()
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
        made.bind((f"127.0.0.{2 + self._sent % _SOURCES}", 0))
        with suppress(BlockingIOError):
            made.connect(self._address)
        connection = _Connection(made, phase)
        self._by_fd[made.fileno()] = connection
        self._epoll.register(made.fileno(), select.EPOLLIN)
        return connection

    def _push(self, connection: _Connection) -> None:
        """Send what can be sent; the rest when the connection is ready."""
        try:
            sent = connection.socket.send(connection.unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._lose(connection)
            return
        connection.unsent = connection.unsent[sent:]
        if connection.unsent:
            self._epoll.modify(connection.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)

    def _turn(self, timeout: float) -> None:
        for fd, event in self._epoll.poll(timeout):
            connection = self._by_fd.get(fd)
            if connection is None:
                continue
            if event & select.EPOLLOUT and connection.unsent:
                self._epoll.modify(fd, select.EPOLLIN)
                self._push(connection)
            if connection.open and event & ~select.EPOLLOUT:
                self._receive(connection)
        self._give_up()

    def _give_up(self) -> None:
        before = perf_counter() - self._patience
        while self._waiting and (self._waiting[0][0] < before or not self._is_first_open()):
            due, connection = self._waiting.popleft()
            if connection.open and connection.due == due:
                connection.phase.gave_up += 1
                self._unanswered -= 1
                self._close(connection)

    def _is_first_open(self) -> bool:
        due, connection = self._waiting[0]
        return connection.open and connection.due == due

    def _receive(self, connection: _Connection) -> None:
        try:
            data = connection.socket.recv(_BUFFER)
        except OSError:
            data = b""
        if not data:
            self._lose(connection)
            return
        connection.received += data
        head, found, body = connection.received.partition(b"\r\n\r\n")
        if not found:
            return
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if len(body) < int(length or 0):
            return
        took = perf_counter() - connection.due
        phase = connection.phase
        status = head[9:12]
        if status == _OK:
            phase.answers.append(took)
        elif status == _REFUSED:
            phase.refusals.append(took)
        else:
            phase.lost += 1
        self._unanswered -= 1
        connection.due = 0.0
        if self._keep and b"\r\nconnection: close" not in head:
            self._idle.append(connection)
        else:
            self._close(connection)

    def _lose(self, connection: _Connection) -> None:
        if connection.due:
            connection.phase.lost += 1
            self._unanswered -= 1
        else:  # it was idle
            self._idle.remove(connection)
        self._close(connection)

    def _close(self, connection: _Connection) -> None:
        connection.open = False
        del self._by_fd[connection.socket.fileno()]
        connection.socket.close()


def main(port: str, file: str, token: str, patience: str, kind: str, *phases: str) -> None:
    """Send the phases, then print the result."""
    requests = [request_of(body, token) for body in Path(file).read_bytes().splitlines()]
    pairs = [phase.partition(":") for phase in phases]
    schedule = [Phase(float(rate), float(seconds)) for rate, _, seconds in pairs]
    began, used = perf_counter(), process_time()
    OpenLoop(int(port), requests, float(patience) / 1000, kind == "kept").run(schedule)
    cpu = (process_time() - used) / (perf_counter() - began)
    tell({"phases": [phase.result() for phase in schedule], "cpu": round(cpu, 2)})


if __name__ == "__main__":
    main(*sys.argv[1:])
