"""The life of a campaign, as its manager writes it: create, activate, change, pause, delete.

Managers write only to their own campaigns, so the answers for all others can be checked meanwhile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

CREATE, ACTIVATE, CHANGE, PAUSE, DELETE = "create", "activate", "change", "pause", "delete"
KINDS = (CREATE, ACTIVATE, CHANGE, PAUSE, DELETE)


@dataclass(frozen=True, slots=True)
class Write:
    """A request of a manager; `{id}` in the path stands for the campaign's id."""

    kind: str
    method: str
    path: str
    body: dict[str, Any] | None = None


_CAMPAIGNS = "/v1/campaigns"
_CAMPAIGN = f"{_CAMPAIGNS}/{{id}}"


def life(rng: Random, advertiser: int, texts: Sequence[str]) -> Iterator[Write]:
    """All writes to one campaign, in order."""
    fields = {
        "name": "load test",
        "advertiser_id": advertiser,
        "targeting": rng.choice(texts),
        "bid_micros": rng.randrange(1, 5_000_000),
    }
    yield Write(CREATE, "POST", _CAMPAIGNS, fields)
    yield Write(ACTIVATE, "POST", f"{_CAMPAIGN}/activate")
    yield Write(CHANGE, "PATCH", _CAMPAIGN, {"bid_micros": rng.randrange(1, 5_000_000)})
    yield Write(CHANGE, "PATCH", _CAMPAIGN, {"targeting": rng.choice(texts)})
    yield Write(PAUSE, "POST", f"{_CAMPAIGN}/pause")
    yield Write(ACTIVATE, "POST", f"{_CAMPAIGN}/activate")
    yield Write(CHANGE, "PATCH", _CAMPAIGN, {"priority": rng.randrange(10)})
    yield Write(PAUSE, "POST", f"{_CAMPAIGN}/pause")
    yield Write(DELETE, "DELETE", _CAMPAIGN)


class Pace:
    """Limits the writes of a process: to a share of all requests, to a rate, or not at all."""

    def __init__(self, share: float | None, rate: float | None) -> None:
        self._per_match = None if share is None else share / (1 - share)
        self._rate = rate
        self._matches = 0
        self._writes = 0
        self._due = 0.0

    def matched(self) -> None:
        """A match was answered."""
        self._matches += 1

    def take(self, now: float) -> bool:
        """Whether a write may be sent now; if so, it is counted."""
        if self._per_match is not None and self._writes >= self._matches * self._per_match:
            return False
        if self._rate is not None:
            if now < self._due:
                return False
            self._due = max(self._due, now - 1) + 1 / self._rate
        self._writes += 1
        return True
