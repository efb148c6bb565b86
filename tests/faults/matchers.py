"""Ad servers: they send matches and change connections now and then to reach every worker."""

import threading
from dataclasses import dataclass
from http import HTTPStatus
from random import Random
from typing import Any

from testkit.client import Answer, Client, Lost
from tests.faults.bounds import MATCH_TIMEOUT
from tests.faults.history import ANSWERED, BEHIND, LOST, REFUSED, History, Match

LIMIT = 1000
"""More than a run has campaigns, so answers are complete."""

_STAYS = 20
"""Average number of requests per connection."""


@dataclass(frozen=True)
class MatchClient:
    """A client that sends matches and records the answers."""

    name: str
    client: Client
    events: list[dict[str, Any]]
    history: History

    def ask(self, event: int, min_rev: int = 0) -> Match:
        """Send the event with this number."""
        body: dict[str, Any] = {"attributes": self.events[event], "limit": LIMIT}
        if min_rev:
            body["min_rev"] = min_rev
        begin = self.history.elapsed()
        try:
            answer: Answer | Lost = self.client.send("POST", "/v1/match", body)
        except Lost as lost:
            answer = lost
        place = (self.name, self.client.connection, event, min_rev, begin, self.history.elapsed())
        match = _match(place, answer)
        self.history.add(match)
        return match

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self.client.close()


def _match(place: tuple[str, int, int, int, float, float], answer: Answer | Lost) -> Match:
    if isinstance(answer, Lost):
        return Match(*place, LOST, message=str(answer))
    if answer.status == HTTPStatus.CONFLICT and place[3]:
        return Match(*place, BEHIND, answer.status)
    if answer.status != HTTPStatus.OK:
        return Match(*place, REFUSED, answer.status, message=answer.body.decode())
    content = answer.content
    matches = [(m["campaign_id"], m["priority"], m["bid_micros"]) for m in content["matches"]]
    answered = (content["epoch"], content["rev"], matches, content["total"])
    return Match(*place, ANSWERED, answer.status, *answered)


class Matcher(threading.Thread):
    """Sends matches at intervals of `pause` until stopped."""

    def __init__(
        self,
        number: int,
        seed: int,
        port: int,
        token: str,
        pause: float,
        events: list[dict[str, Any]],
        history: History,
    ) -> None:
        super().__init__(name=f"matcher {number}", daemon=True)
        client = Client(port, token, MATCH_TIMEOUT)
        self._match_client = MatchClient(f"matcher {number}", client, events, history)
        self._events = len(events)
        self._random = Random(f"matcher {seed} {number}")
        self._pause = pause
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._pause):
            self._match_client.ask(self._random.randrange(self._events))
            if not self._random.randrange(_STAYS):
                self._match_client.close()
        self._match_client.close()
