"""Background tasks of a worker: prune old rows, save snapshots of the index.

They run as long as the service does. A failure is logged, and the next round tries again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from app.settings import Settings
from campaigns.backoff import jitter
from campaigns.delivery import service as delivery
from campaigns.errors import CampaignsError
from campaigns.feed.service import WorkerFeed
from campaigns.log import idempotency
from campaigns.log.service import prune
from campaigns.store import Store

log = logging.getLogger(__name__)


async def prune_regularly(store: Store, settings: Settings) -> None:
    """Regularly remove old changes, answers to idempotent requests, and delivery."""

    async def once() -> None:
        changes = await prune(store, settings.keep_changes, settings.keep_changes_for)
        answers = await idempotency.forget(store, settings.keep_answers_for)
        hours = await delivery.forget(store, settings.keep_delivery_for)
        if changes or answers or hours:
            log.info("pruned %d changes, %d answers, %d hours", changes, answers, hours)

    await _every(settings.prune_minutes * 60, "pruning", once)


async def save_regularly(feed: WorkerFeed, settings: Settings) -> None:
    """Regularly save a snapshot of the index."""
    await _every(settings.index_save_minutes * 60, "saving the index", lambda: save(feed))


async def save(feed: WorkerFeed) -> None:
    """Save a snapshot of the index, if it has a directory."""
    if feed.kept is not None:
        await feed.follower.save(feed.kept)


async def _every(seconds: float, what: str, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        # Workers that start together must not all do this at the same time.
        await asyncio.sleep(seconds * jitter(0.2))
        try:
            await work()
        except (CampaignsError, OSError) as error:
            log.warning("%s failed: %s", what, error)
