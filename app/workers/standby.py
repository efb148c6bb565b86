"""A worker with nothing to answer from yet, beside one that can: it takes no requests away from it.

All workers share one socket, so whatever a worker accepts no other one answers. One that replaces
another while the database is away would refuse its share of the matches, although the rest of the
service goes on from memory.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from app.workers.peers import ask_all
from campaigns.feed.follower import Follower

log = logging.getLogger(__name__)

SERVES = "serves"
"""What the others are asked: whether they have an index."""

LOOK_SECONDS = 1.0


async def wait_beside_others(follower: Follower, directory: Path | None) -> None:
    """Until the index is loaded, or nobody else of the service has one either."""
    told = False
    while directory is not None and follower.current is None and await _somebody_serves(directory):
        if not told:
            log.warning("the index is not loaded: others serve meanwhile")
            told = True
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await follower.reached(0)


async def _somebody_serves(directory: Path) -> bool:
    answers = await ask_all(directory, SERVES, LOOK_SECONDS)
    return any(answers.heard.values())
