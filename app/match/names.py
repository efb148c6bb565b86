"""`"fields": ["external_id", "advertiser_id"]`: more about each match, where a request asks for it.

    {"campaign_id": 7, "priority": 5, "bid_micros": 1200000, "external_id": "spring-24"}

An index does not hold external ids: they are read from the database, and remembered until the
campaign changes, which shows in its version. A match never waits long for them and never fails
without them: what cannot be read in time is left out.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from typing import Any

import orjson

from campaigns.campaign.service import names_of
from campaigns.errors import CampaignsError
from campaigns.feed.view import View
from campaigns.store import Store

log = logging.getLogger(__name__)

FIELDS = ("external_id", "advertiser_id")
MOST_REMEMBERED = 100_000
LONGEST_WAIT = 0.1


class CampaignNames:
    """The fields of campaigns that matched lately."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, dict[str, Any]] = {}

    async def add_to(
        self, answer: bytes, fields: Sequence[str], view: View, seconds: float
    ) -> bytes:
        """The answer to a match with these fields in each match; it waits for some `seconds`."""
        content = orjson.loads(answer)
        matches = content["matches"]
        known = await self.of({match["campaign_id"] for match in matches}, view, seconds)
        for match in matches:
            if (names := known.get(match["campaign_id"])) is not None:
                match.update({field: names[field] for field in fields})
        return orjson.dumps(content)

    async def of(self, ids: Collection[int], view: View, seconds: float) -> dict[int, Any]:
        """The fields of each campaign, as far as they could be read in time."""
        known, origin = self._known, view.index.origin
        found = {
            id: names
            for id in ids
            if (names := known.get(id)) is not None and names["version"] == origin(id)[1]
        }
        if len(found) < len(ids):
            found |= await self._read([id for id in ids if id not in found], seconds)
        return found

    async def _read(self, ids: Sequence[int], seconds: float) -> dict[int, dict[str, Any]]:
        try:
            async with asyncio.timeout(min(seconds, LONGEST_WAIT)):
                found = await names_of(self._store, ids)
        except (CampaignsError, TimeoutError) as error:
            log.warning("matches go without their external ids: %s", error)
            return {}
        if len(self._known) + len(found) > MOST_REMEMBERED:
            self._known.clear()
        self._known.update(found)
        return found
