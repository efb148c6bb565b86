"""The writes of campaign managers, in sequence: each is one transaction and one rev.

Of twenty writes ten change a bid, four a targeting, two pause a campaign and two activate it
again, one creates a campaign and one activates it. Every write changes something, so each has a
rev.
"""

from collections import deque
from collections.abc import Sequence

from campaigns.campaign import service as campaign
from campaigns.campaign.model import Campaign
from campaigns.store import Store
from testkit.database import ACTOR

_CYCLE = "BTBPBTBABTBPBTBABCBN"
"""Bid, Targeting, Pause, Activate what was paused, Create, activate the New one."""


class Writes:
    """Writes to active campaigns; `texts` are the targetings to choose from.

    Each write takes the least recently used campaign, so concurrent writes never share one if there
    are enough campaigns.
    """

    def __init__(self, store: Store, ids: Sequence[int], texts: Sequence[str]) -> None:
        self._store = store
        self._texts = texts
        self._serving = deque(ids)
        self._paused: deque[int] = deque()
        self._drafts: deque[int] = deque()
        self._count = 0

    async def next(self) -> Campaign:
        """The next write."""
        number = self._count
        self._count += 1
        match _CYCLE[number % len(_CYCLE)]:
            case "T":
                return await self._patch({"targeting": self._text(number)})
            case "P":
                id = self._serving.popleft()
                paused = await campaign.pause(self._store, ACTOR, id)
                self._paused.append(id)
                return paused
            case "C":
                fields = {
                    "name": f"campaign {number}",
                    "advertiser_id": 1 + number % 10,
                    "targeting": self._text(number),
                    "bid_micros": number,
                    "categories": ["IAB1"],
                }
                made = await campaign.create(self._store, ACTOR, fields)
                self._drafts.append(made.id)
                return made
            case "A" if self._paused:  # otherwise the pause is still in flight
                return await self._activate(self._paused.popleft())
            case "N" if self._drafts:
                return await self._activate(self._drafts.popleft())
            case _:
                return await self._patch({"bid_micros": 1_000_000 + number})

    async def _patch(self, fields: dict[str, object]) -> Campaign:
        self._serving.rotate(-1)
        return await campaign.patch(self._store, ACTOR, self._serving[-1], fields, None)

    async def _activate(self, id: int) -> Campaign:
        activated = await campaign.activate(self._store, ACTOR, id)
        self._serving.append(id)
        return activated

    def _text(self, number: int) -> str:
        """A new targeting."""
        return f"({self._texts[number % len(self._texts)]}) or session.depth = {number}"
