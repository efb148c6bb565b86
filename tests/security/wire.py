"""A raw connection to the service."""

import re
import socket
import time
from dataclasses import dataclass
from types import TracebackType

_HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n(.*?)\r\n\r\n", re.DOTALL)


class Silent(AssertionError):
    """The service neither answered nor closed the connection."""


@dataclass(frozen=True)
class Answer:
    """One response."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """A connection; a `with` block closes it."""

    def __init__(self, port: int, timeout: float = 15.0) -> None:
        self.timeout = timeout
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._got = b""

    def __enter__(self) -> "Wire":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> bool:
        """Send; returns false if the service has closed the connection."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        return True

    def end(self) -> None:
        """Close our side."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def answer(self) -> Answer | None:
        """The next answer; None if the connection is closed; raises `Silent` if neither happens."""
        until = time.monotonic() + self.timeout
        while True:
            found = _HEAD.match(self._got)
            if found and found[1] == b"100":
                self._got = self._got[found.end() :]
                continue
            if found:
                return self._whole(found, until)
            if not self._more(until):
                return None

    def answers(self) -> list[Answer]:
        """All answers until the service closes the connection."""
        found = []
        while (answer := self.answer()) is not None:
            found.append(answer)
        return found

    def _whole(self, found: re.Match[bytes], until: float) -> Answer | None:
        status = int(found[1])
        lines = [line.partition(b":") for line in found[2].split(b"\r\n")]
        headers = {name.lower().decode(): value.strip().decode() for name, _, value in lines}
        chunked = headers.get("transfer-encoding") == "chunked"
        while True:
            rest = self._got[found.end() :]
            end = rest.find(b"0\r\n\r\n") + 5 if chunked else int(headers.get("content-length", 0))
            if (
                (rest.endswith(b"0\r\n\r\n") or b"\r\n0\r\n\r\n" in rest)
                if chunked
                else (len(rest) >= end)
            ):
                self._got = rest[end:]
                return Answer(status, headers, rest[:end])
            if not self._more(until):
                return None

    def _more(self, until: float) -> bool:
        left = until - time.monotonic()
        if left <= 0:
            raise Silent(f"nothing within {self.timeout} s; so far {self._got[:300]!r}")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            raise Silent(f"nothing within {self.timeout} s; so far {self._got[:300]!r}") from None
        except OSError:
            return False
        self._got += data
        return bool(data)
