"""The shell around `arranging.py`: it watches a follower's view and keeps it arranged."""

import asyncio
import logging
import random

from campaigns.feed.follower import Follower
from campaigns.feed.source import Source
from campaigns.feed.view import NamedStatistics, View
from campaigns.statistics.apply import BadStatistics, arrange, document, refuse, wants_arranging

log = logging.getLogger(__name__)

FIRST_RETRY, LAST_RETRY = 0.1, 10.0


class Arranger:
    """Keeps the index of a follower's view arranged by the statistics that the log names."""

    def __init__(self, source: Source, follower: Follower) -> None:
        self._source = source
        self._follower = follower
        self._failures = 0

    async def run(self) -> None:
        """Arrange whenever there is something to, until cancelled."""
        while True:
            view = self._follower.current
            if view is None or not wants_arranging(view):
                await self._follower.moved()
                continue
            try:
                await self._arrange(view, view.statistics)
                self._failures = 0
            except Exception as error:
                if not self._failures:
                    log.warning(
                        "the statistics cannot be fetched: %s: %s", type(error).__name__, error
                    )
                wait = min(LAST_RETRY, FIRST_RETRY * 2.0 ** min(self._failures, 30))
                self._failures += 1
                await asyncio.sleep(wait * random.uniform(0.5, 1.5))

    async def _arrange(self, view: View, wanted: NamedStatistics | None) -> None:
        text = None
        if wanted is not None:
            async with self._source.repeatable_read() as reading:
                text = await document(reading, wanted)
        try:
            await asyncio.to_thread(arrange, view, wanted, text)
        except BadStatistics as error:
            refuse(view, wanted, error)
            return
        log.info("the index is arranged by the statistics %s", wanted.id if wanted else "none")
