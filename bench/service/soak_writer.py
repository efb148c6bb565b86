"""Campaign managers: writes through the API at a fixed rate, however long each takes.

Of eleven writes four change a bid and two a targeting; one pauses a campaign and one activates it
again; three create, activate and archive a campaign, so their number stays the same. Every
twentieth write is followed by a match with its rev as `min_rev`.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from testkit.client import Client, Lost

_CYCLE = "BTBPABTBCNX"
"""Bid, Targeting, Pause, Activate, Create, activate the New one, archive it (X)."""
_ASKED = 20
"""Writes from one match with `min_rev` to the next."""
_TIMEOUT = 10.0


class Writer(threading.Thread):
    """One manager, with its own campaigns. `stop` ends it."""

    def __init__(
        self, port: int, token: str, ids: Sequence[int], texts: Sequence[str], pause: float
    ) -> None:
        super().__init__(name="writer", daemon=True)
        self.writes = 0
        self.failed: Counter[str] = Counter()
        self.took: list[float] = []
        self.seen: list[float] = []
        """Seconds from the answer to a write to the answer of a match that includes it."""

        self.unseen = 0
        """Matches that timed out before the write was visible; they are not in `seen`."""

        self._pause = pause
        self._client = Client(port, token, _TIMEOUT)
        self._ids, self._texts = ids, texts
        self._stopped = threading.Event()
        self._new = 0

    def stop(self) -> None:
        """Write no more; `join` waits for the current write."""
        self._stopped.set()

    def run(self) -> None:
        due = time.monotonic()
        while not self._stopped.wait(max(0.0, due - time.monotonic())):
            due += self._pause
            try:
                self._write(self.writes)
            except Lost as error:
                self.failed[str(error)] += 1
            self.writes += 1
        self._client.close()

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
        """The answer, or None if the request failed; failures are counted."""
        answer = self._client.send(method, path, body, If_Match="*")
        if answer.status == HTTPStatus.CONFLICT and path == "/v1/match":
            self.unseen += 1
            return None
        if answer.status >= HTTPStatus.BAD_REQUEST:
            self.failed[f"{method} {path}: {answer.status} {_first_code(answer.body)}"] += 1
            return None
        content: dict[str, Any] = answer.content
        return content


def _first_code(problem: bytes) -> str:
    """The code of the first error in a problem document."""
    try:
        return str(json.loads(problem)["errors"][0]["code"])
    except (ValueError, LookupError, TypeError):
        return ""
