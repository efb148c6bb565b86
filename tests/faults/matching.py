"""Ad servers: matches, and now and then another connection, so that every worker is asked."""

import threading
from collections.abc import Callable
from http import HTTPStatus
from random import Random
from typing import Any

from tests.faults.bounds import MATCH_TIMEOUT
from tests.faults.client import Answer, Client, Lost
from tests.faults.history import ANSWERED, BEHIND, LOST, REFUSED, History, Match

LIMIT = 1000
"""More than a run has campaigns: answers are whole."""

_STAYS = 20
"""So many requests a connection lasts, about."""


class Asking:
    """One client that asks, and records what it was told."""

    def __init__(
        self,
        name: str,
        client: Client,
        events: list[dict[str, Any]],
        history: History,
        elapsed: Callable[[], float],
    ) -> None:
        self._name = name
        self._client = client
        self._events = events
        self._history = history
        self._elapsed = elapsed

    def ask(self, event: int, min_rev: int = 0) -> Match:
        """One question, by the number of its event."""
        body: dict[str, Any] = {"attributes": self._events[event], "limit": LIMIT}
        if min_rev:
            body["min_rev"] = min_rev
        begin = self._elapsed()
        try:
            answer: Answer | Lost = self._client.send("POST", "/v1/match", body)
        except Lost as lost:
            answer = lost
        place = (self._name, self._client.connection, event, min_rev, begin, self._elapsed())
        match = _match(place, answer)
        self._history.add(match)
        return match

    def leave(self) -> None:
        """Go to another connection."""
        self._client.leave()


def _match(place: tuple[str, int, int, int, float, float], answer: Answer | Lost) -> Match:
    if isinstance(answer, Lost):
        return Match(*place, LOST, told=str(answer))
    if answer.status == HTTPStatus.CONFLICT and place[3]:
        return Match(*place, BEHIND, answer.status)
    if answer.status != HTTPStatus.OK:
        return Match(*place, REFUSED, answer.status, told=answer.body.decode())
    told = answer.content
    matches = [(m["campaign_id"], m["priority"], m["bid_micros"]) for m in told["matches"]]
    answered = (told["epoch"], told["rev"], matches, told["total"])
    return Match(*place, ANSWERED, answer.status, *answered)


class Matcher(threading.Thread):
    """Asks so often, until it is stopped."""

    def __init__(
        self,
        number: int,
        seed: int,
        port: int,
        token: str,
        pause: float,
        events: list[dict[str, Any]],
        history: History,
        elapsed: Callable[[], float],
    ) -> None:
        super().__init__(name=f"matcher {number}", daemon=True)
        client = Client(port, token, MATCH_TIMEOUT)
        self._asking = Asking(f"matcher {number}", client, events, history, elapsed)
        self._events = len(events)
        self._random = Random(f"matcher {seed} {number}")
        self._pause = pause
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            self._asking.ask(self._random.randrange(self._events))
            if not self._random.randrange(_STAYS):
                self._asking.leave()
        self._asking.leave()
