"""What the service holds while it runs, from its start to its end."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from app.api.forecaster import Forecaster
from app.observability.engine import current_engine
from app.observability.logging import START
from app.observability.setup import seeing
from app.settings import Settings
from app.state import Loading, State
from app.workers.maintenance import keep_pruned, keep_saved, save
from app.workers.readiness import Readiness
from app.workers.standby import wait_beside_others
from campaigns.database.engine import Database
from campaigns.feed.follower import Around
from campaigns.feed.service import WorkerFeed
from campaigns.store import Store

log = logging.getLogger(__name__)

START_SECONDS = 2.0
"""An index that loads within this time is there before the first request; a larger one, or one
whose database is away, is loaded while `/healthz/ready` says so, unless another worker can answer
meanwhile."""


@asynccontextmanager
async def running(
    settings: Settings, worker: int = 0, around: Around | None = None
) -> AsyncIterator[State]:
    """The database, the feed and the background, for as long as the block runs."""
    loading = Loading()
    async with (
        Database(settings.database_url, settings.database_connections) as database,
        WorkerFeed(
            settings.database_url,
            settings.redis_url,
            poll=settings.feed_poll_seconds,
            limits=settings.limits,
            keep_in=_directory_of(settings.index_directory, worker),
            progress=loading.tell,
            around=around,
        ) as feed,
    ):
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await feed.follower.reached(0)
        await wait_beside_others(feed.follower, settings.run_directory)
        store = Store(database, settings.limits)
        background = [asyncio.create_task(keep_pruned(store, settings))]
        if feed.current is None:
            background.append(asyncio.create_task(_tell_when_loaded(feed)))
        if feed.kept is not None:
            background.append(asyncio.create_task(keep_saved(feed, settings)))
        try:
            async with seeing(settings, feed, worker) as (watching, peer, directory):
                yield State(
                    engine=current_engine(),
                    limits=settings.limits,
                    store=store,
                    feed=feed,
                    loading=loading,
                    readiness=Readiness(feed.follower, settings.ready_lag_revs),
                    watching=watching,
                    peer=peer,
                    run_directory=directory,
                    forecaster=Forecaster(store),
                )
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            try:
                await save(feed)
            except OSError as error:
                log.warning("the index could not be kept: %s", error)


async def _tell_when_loaded(feed: WorkerFeed) -> None:
    told = logging.getLogger(START)
    started = time.monotonic() - START_SECONDS
    told.info("the index is being loaded; /healthz/ready says when it is there")
    view = await feed.follower.reached(0)
    seconds = time.monotonic() - started
    told.info("loaded %s campaigns in %.1f s", f"{len(view.index):,}", seconds)


def _directory_of(directory: Path | None, worker: int) -> Path | None:
    """Each worker keeps its own index."""
    return None if directory is None else directory / f"worker-{worker}"
