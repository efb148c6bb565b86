"""A client on one connection at a time: it knows when it got another one, and which answers were
lost."""

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
IDLE_SECONDS = 2.0
"""A connection that was idle for longer is not used again: the server closes it after five."""


class Lost(Exception):
    """No answer came: whether the request did is not known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered; the body is JSON, or lines of it."""

    status: int
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)


class Client:
    """One key, one connection; after an error the next request opens another."""

    def __init__(self, port: int, token: str, timeout: float) -> None:
        self.connection = 0
        """The number of the connection: one connection is one worker."""

        self._port = port
        self._token = token
        self._timeout = timeout
        self._open: http.client.HTTPConnection | None = None
        self._used = 0.0

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        media_type: str = "application/json",
        **headers: str,
    ) -> Answer:
        """The answer, or `Lost`. `body` is sent as JSON, bytes as they are."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"Authorization": f"Bearer {self._token}", "Content-Type": media_type}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        if time.monotonic() - self._used > IDLE_SECONDS:
            self.leave()
        try:
            if self._open is None:
                self.connection += 1
                self._open = http.client.HTTPConnection(HOST, self._port, timeout=self._timeout)
            self._open.request(method, path, sent, given)
            answer = self._open.getresponse()
            told = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.leave()
            raise Lost(f"{type(error).__name__}: {error}") from error
        self._used = time.monotonic()
        if answer.will_close:
            self.leave()
        return Answer(answer.status, told)

    def leave(self) -> None:
        """Take another connection, and maybe another worker, next time."""
        if self._open is not None:
            self._open.close()
            self._open = None
