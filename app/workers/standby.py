"""A worker without an index does not accept requests while other workers can answer them.

All workers share one socket, and a request is answered by the worker that accepts it. A worker that
replaces another while the database is down would refuse its share of the matches, although the
other workers answer from memory.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from app.workers.peers import ask_all
from campaigns.feed.follower import Follower

log = logging.getLogger(__name__)

SERVES = "serves"
"""The question to the other workers: do you have an index?"""

LOOK_SECONDS = 1.0


async def wait_while_others_serve(follower: Follower, directory: Path | None) -> None:
    """Wait until the index is loaded, or no other worker has one either."""
    logged = False
    while directory is not None and follower.current is None and await _other_serves(directory):
        if not logged:
            log.warning("the index is not loaded: other workers serve until it is")
            logged = True
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await follower.reached(0)


async def _other_serves(directory: Path) -> bool:
    answers = await ask_all(directory, SERVES, LOOK_SECONDS)
    return any(answers.heard.values())
