"""What the service does by itself, beside answering: prune what is old, keep the index in a file.

Each runs for as long as the service does; what goes wrong is logged and tried again next time.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from app.settings import Settings
from campaigns.errors import CampaignsError
from campaigns.feed.service import WorkerFeed
from campaigns.log import idempotency
from campaigns.log.service import prune
from campaigns.store import Store

log = logging.getLogger(__name__)


async def keep_pruned(store: Store, settings: Settings) -> None:
    """Remove old changes and old answers to idempotent requests, now and then."""

    async def once() -> None:
        changes = await prune(store, settings.keep_changes, settings.keep_changes_for)
        answers = await idempotency.forget(store, settings.keep_answers_for)
        if changes or answers:
            log.info("pruned %d changes and %d answers", changes, answers)

    await _every(settings.prune_minutes * 60, "pruning", once)


async def keep_saved(feed: WorkerFeed, settings: Settings) -> None:
    """Write the index to its file, now and then."""
    await _every(settings.index_save_minutes * 60, "keeping the index", lambda: save(feed))


async def save(feed: WorkerFeed) -> None:
    """Write the index to its file, if it has one."""
    if feed.kept is not None:
        await feed.follower.save(feed.kept)


async def _every(seconds: float, what: str, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        # Workers that start together must not all do it at the same moment.
        await asyncio.sleep(seconds * random.uniform(0.8, 1.2))
        try:
            await work()
        except (CampaignsError, OSError) as error:
            log.warning("%s failed: %s", what, error)
