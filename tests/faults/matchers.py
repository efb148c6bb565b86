"""Ad servers: they send matches and change connections now and then to reach every worker."""

import threading
from dataclasses import dataclass, replace
from http import HTTPStatus
from random import Random
from typing import Any

from testkit.client import Answer, Client, Lost
from tests.faults.bounds import MATCH_TIMEOUT
from tests.faults.history import ANSWERED, BEHIND, LOST, REFUSED, History, Match
from tests.faults.service import PORT, Service

LIMIT = 1000
"""More than a run has campaigns, so answers are complete."""

_STAYS = 20
"""Average number of requests per connection."""

_UPGRADE = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2_Settings": "AAMAAABk"}
"""What Java's HttpClient and `curl --http2` send: it must make no difference."""

_UPGRADES = 5
"""One in so many requests has it."""


@dataclass(frozen=True)
class MatchClient:
    """A client that sends matches to a host and records the answers."""

    name: str
    host: int
    client: Client
    events: list[dict[str, Any]]
    history: History

    def ask(self, event: int, min_rev: int = 0) -> Match:
        """Send the event with this number."""
        body: dict[str, Any] = {"attributes": self.events[event], "limit": LIMIT}
        if event % 2:
            body["total"] = True
        if min_rev:
            body["min_rev"] = min_rev
        headers = {} if event % _UPGRADES else _UPGRADE
        begin = self.history.elapsed()
        try:
            answer: Answer | Lost = self.client.send("POST", "/v1/match", body, **headers)
        except Lost as lost:
            answer = lost
        place = (self.name, self.client.connection, event, min_rev, begin, self.history.elapsed())
        match = replace(_match(place, answer), host=self.host)
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
    answered = (content["epoch"], content["rev"], matches, content.get("total"))
    return Match(*place, ANSWERED, answer.status, *answered)


class Matcher(threading.Thread):
    """Sends matches at intervals of `pause` until stopped, on the host of the service."""

    def __init__(
        self,
        number: int,
        seed: int,
        service: Service,
        token: str,
        pause: float,
        events: list[dict[str, Any]],
        history: History,
    ) -> None:
        super().__init__(name=f"matcher {number}", daemon=True)
        client = Client(PORT, token, MATCH_TIMEOUT)
        self._service = service
        self._match_client = MatchClient(self.name, service.number, client, events, history)
        self._events = len(events)
        self._random = Random(f"matcher {seed} {number}")
        self._pause = pause
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        with self._service.entered():
            while not self._stopped.wait(self._pause):
                self._match_client.ask(self._random.randrange(self._events))
                if not self._random.randrange(_STAYS):
                    self._match_client.close()
            self._match_client.close()
