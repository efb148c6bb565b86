"""Campaign managers: so many writes a second through the API, on a schedule, whatever they take.

Of eleven writes four change a bid and two a targeting, one pauses a campaign and one lets it serve
again; and one is created, serves and is archived, so that there are as many as before. After some
of them a match with `min_rev` asks for a state that has the write.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

_CYCLE = "BTBPABTBCNX"
"""Bid, Targeting, Pause, Activate, Create, activate the New one, archive it (X)."""
_ASKED = 20
"""After so many writes a match asks for the last one."""
_TIMEOUT = 10.0


class Writer(threading.Thread):
    """One manager, with campaigns that nobody else touches. `stop` ends it."""

    def __init__(
        self, port: int, token: str, ids: Sequence[int], texts: Sequence[str], pause: float
    ) -> None:
        super().__init__(name="writer", daemon=True)
        self.writes = 0
        self.failed: Counter[str] = Counter()
        self.took: list[float] = []
        self.seen: list[float] = []
        """How long it took from the answer to a write to that of a match which has it."""

        self.unseen = 0
        """Matches that did not get the state they asked for, and are not in `seen`."""

        self._port, self._pause = port, pause
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "If-Match": "*",
        }
        self._ids, self._texts = ids, texts
        self._stopped = threading.Event()
        self._new = 0

    def stop(self) -> None:
        """No further write; join it then."""
        self._stopped.set()

    def run(self) -> None:
        due = time.monotonic()
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            due += self._pause
            try:
                self._write(self.writes)
            except (OSError, http.client.HTTPException) as error:
                self.failed[type(error).__name__] += 1
                self._connection.close()
            self.writes += 1
        self._connection.close()

    def _write(self, number: int) -> None:
        started = time.monotonic()
        written = self._next(_CYCLE[number % len(_CYCLE)], number)
        now = time.monotonic()
        self.took.append(now - started)
        if written is not None and number % _ASKED == 0:
            asked = {"attributes": {}, "min_rev": written["rev"]}
            if self._send("POST", "/v1/match", asked) is not None:
                self.seen.append(time.monotonic() - now)

    def _next(self, kind: str, number: int) -> dict[str, Any] | None:
        id = self._ids[number // len(_CYCLE) % len(self._ids)]
        path = "/v1/campaigns"
        match kind:
            case "B":
                return self._send("PATCH", f"{path}/{id}", {"bid_micros": 1_000_000 + number})
            case "T":
                return self._send("PATCH", f"{path}/{id}", {"targeting": self._text(number)})
            case "P" | "A":
                return self._send("POST", f"{path}/{id}/{'pause' if kind == 'P' else 'activate'}")
            case "C":
                fields = {"name": "new", "advertiser_id": 1, "targeting": self._text(number)}
                made = self._send("POST", path, fields)
                self._new = made["id"] if made else 0
                return made
            case _:
                move = "activate" if kind == "N" else "archive"
                return self._send("POST", f"{path}/{self._new}/{move}")

    def _text(self, number: int) -> str:
        return f"({self._texts[number % len(self._texts)]}) or session.depth = {number}"

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any] | None:
        """The answer, or None after it was counted as failed."""
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status == HTTPStatus.CONFLICT and path == "/v1/match":
            self.unseen += 1
            return None
        if answer.status >= HTTPStatus.BAD_REQUEST:
            self.failed[f"{method} {path}: {answer.status} {_first_code(told)}"] += 1
            return None
        read: dict[str, Any] = json.loads(told)
        return read


def _first_code(problem: bytes) -> str:
    """What was wrong in the first place, by the body of a refusal."""
    try:
        return str(json.loads(problem)["errors"][0]["code"])
    except (ValueError, LookupError, TypeError):
        return ""
