"""An HTTP client with one connection at a time, which it counts; lost answers are reported."""

import http.client
import json
import select
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import orjson

from testkit.workloads.workload import Event

HOST = "127.0.0.1"


class Lost(ConnectionError):
    """No answer arrived; the request may or may not have been processed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status and body of a response."""

    status: int
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


class Client:
    """One key, one connection. After an error or `close` the next request opens another."""

    def __init__(self, port: int, token: str = "", timeout: float = 30.0) -> None:
        self.connection = 0
        """The number of the current connection. A connection stays with one worker."""

        self._port = port
        self._token = token
        self._timeout = timeout
        self._open: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        media_type: str = "application/json",
        **headers: str,
    ) -> Answer:
        """Send a request; raises `Lost` without an answer. Bytes are sent as they are, anything
        else as JSON."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"Content-Type": media_type}
        if self._token:
            given["Authorization"] = f"Bearer {self._token}"
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if self._was_closed():
            self.close()
        try:
            if self._open is None:
                self.connection += 1
                self._open = http.client.HTTPConnection(HOST, self._port, timeout=self._timeout)
            self._open.request(method, path, sent, given)
            answer = self._open.getresponse()
            received = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(f"{type(error).__name__}: {error}") from error
        if answer.will_close:
            self.close()
        return Answer(answer.status, received)

    def _was_closed(self) -> bool:
        """Whether the server has closed the idle connection. Every client with a pool of
        connections looks before it uses one again."""
        if self._open is None or self._open.sock is None:
            return False
        poll = select.poll()
        poll.register(self._open.sock, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the connection; the next request opens another, maybe to another worker."""
        if self._open is not None:
            self._open.close()
            self._open = None


def match_bodies(events: Iterable[Event]) -> list[bytes]:
    """The bodies of `POST /v1/match` for these events."""
    return [orjson.dumps({"attributes": event}) for event in events]
