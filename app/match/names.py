"""`"fields": ["external_id", "advertiser_id"]`: more about each match, where a request asks for it.

    {"campaign_id": 7, "priority": 5, "bid_micros": 1200000, "external_id": "spring-24"}

An index does not hold these: they are read from the database, and remembered for a second. A match
never waits long for them and never fails without them: what cannot be read in time is left out.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from time import monotonic
from typing import Any

import orjson

from campaigns.campaign.service import names_of
from campaigns.errors import CampaignsError
from campaigns.store import Store

log = logging.getLogger(__name__)

FIELDS = ("external_id", "advertiser_id")
FRESH_SECONDS = 1.0
MOST_REMEMBERED = 100_000
LONGEST_WAIT = 0.1


class CampaignNames:
    """The fields of campaigns that matched lately."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[int, dict[str, Any]] = {}
        self._read_at: dict[int, float] = {}

    async def add_to(self, answer: bytes, fields: Sequence[str], seconds: float) -> bytes:
        """The answer to a match with these fields in each match; it waits for some `seconds`."""
        content = orjson.loads(answer)
        matches = content["matches"]
        await self._read({match["campaign_id"] for match in matches}, seconds)
        for match in matches:
            known = self._known.get(match["campaign_id"])
            if known is not None:
                match.update({field: known[field] for field in fields})
        return orjson.dumps(content)

    async def _read(self, ids: Collection[int], seconds: float) -> None:
        now = monotonic()
        oldest = now - FRESH_SECONDS
        wanted = [id for id in ids if self._read_at.get(id, oldest) <= oldest]
        if not wanted:
            return
        try:
            async with asyncio.timeout(min(seconds, LONGEST_WAIT)):
                found = await names_of(self._store, wanted)
        except (CampaignsError, TimeoutError) as error:
            log.warning("matches go without their external ids: %s", error)
            return
        if len(self._known) + len(found) > MOST_REMEMBERED:
            self._known.clear()
            self._read_at.clear()
        for id in wanted:
            self._known.pop(id, None)  # it may be gone
        self._known.update(found)
        self._read_at.update(dict.fromkeys(wanted, now))
