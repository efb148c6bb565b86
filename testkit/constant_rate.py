"""Sends requests at a constant rate, however long the answers take (an open loop).

    python -m testkit.constant_rate PORT FILE TOKEN RATE SECONDS CONNECTIONS KEPT

The time of a request starts when it was due, so waiting for a connection or for this process
counts. It uses plain sockets and `select`: the timers of an event loop are too coarse (1 ms in
uvloop) for answers that take a fraction of a millisecond. The result is one line of JSON, with the
first answers to the first `KEPT` bodies.
"""

import ctypes
import select
import socket
import sys
from array import array
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, time

from testkit.child import Message, tell

_SLACK_NS = 1000
_PR_SET_TIMERSLACK = 29
_LAST_ANSWER_SECONDS = 10.0
"""Seconds after the last due time at which an unanswered request has failed."""


@dataclass(slots=True)
class _Connection:
    socket: socket.socket
    due: float = 0.0
    number: int = -1
    received: bytes = b""

    def answer(self) -> tuple[int, bytes] | None:
        """The status and the body, once they are complete."""
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return None
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) < int(length or 0):
            return None
        return int(head[9:12]), body


@dataclass
class _Run:
    """The schedule and the results so far."""

    requests: list[bytes]
    rate: float
    total: int
    kept: int
    took: "array[float]" = field(default_factory=lambda: array("d"))
    statuses: "Counter[int]" = field(default_factory=Counter)
    answers: dict[int, tuple[float, str]] = field(default_factory=dict)
    sent: int = 0
    lost: int = 0

    def drive(self, connections: list[_Connection]) -> None:
        """Send all requests on schedule."""
        idle = deque(connections)
        busy: dict[int, _Connection] = {}
        start = perf_counter() + 0.05
        end = start + self.total / self.rate + _LAST_ANSWER_SECONDS
        while len(self.took) + self.lost < self.total:
            now = perf_counter()
            if now > end:
                break
            due = start + self.sent / self.rate
            while idle and self.sent < self.total and due <= now:
                connection = idle.popleft()
                self._send(connection, due)
                busy[connection.socket.fileno()] = connection
                due = start + self.sent / self.rate
            waits = idle and self.sent < self.total
            timeout = max(0.0, due - perf_counter()) if waits else 0.1
            for descriptor in select.select(list(busy), (), (), timeout)[0]:
                if self._receive(busy[descriptor]):
                    idle.append(busy.pop(descriptor))

    def _send(self, connection: _Connection, due: float) -> None:
        connection.due = due
        connection.number = self.sent % len(self.requests)
        connection.received = b""
        connection.socket.sendall(self.requests[connection.number])
        self.sent += 1

    def _receive(self, connection: _Connection) -> bool:
        """Whether the connection is free again."""
        data = connection.socket.recv(1 << 18)
        if not data:
            self.lost += 1
            address = connection.socket.getpeername()
            connection.socket.close()
            connection.socket = _connect(address[1])
            return True
        connection.received += data
        answer = connection.answer()
        if answer is None:
            return False
        self.took.append(perf_counter() - connection.due)
        status, body = answer
        self.statuses[status] += 1
        if connection.number < self.kept and status == 200:
            self.answers.setdefault(connection.number, (time(), body.decode()))
        return True

    def result(self) -> Message:
        """The results, in milliseconds; unanswered requests count as failed."""
        ordered = sorted(self.took)
        return {
            "rate": self.rate,
            "requests": self.total,
            "failed": self.total - len(self.took),
            "statuses": dict(self.statuses),
            **{name: milliseconds(ordered, share) for name, share in SHARES.items()},
            "answers": self.answers,
        }


SHARES = {"p50_ms": 0.5, "p99_ms": 0.99, "p99_9_ms": 0.999, "max_ms": 1.0}


def milliseconds(ordered: Sequence[float], share: float) -> float | None:
    """A percentile of sorted seconds, in milliseconds."""
    if not ordered:
        return None
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def request_of(body: bytes, token: str) -> bytes:
    """The request as bytes."""
    head = (
        "POST /v1/match HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def main(
    port: str, file: str, token: str, rate: str, seconds: str, connections: str, kept: str
) -> None:
    """Send for `seconds`, then print the result."""
    if sys.platform == "linux":  # otherwise a sleep is up to 50 µs too long
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_TIMERSLACK, _SLACK_NS)
    requests = [request_of(body, token) for body in Path(file).read_bytes().splitlines()]
    run = _Run(requests, float(rate), int(float(rate) * float(seconds)), int(kept))
    all_of_them = [_Connection(_connect(int(port))) for _ in range(int(connections))]
    try:
        run.drive(all_of_them)
    finally:
        for each in all_of_them:
            each.socket.close()
    tell(run.result())


if __name__ == "__main__":
    main(*sys.argv[1:])
