"""From the start of the service to its end: what it opens, and its background tasks."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from app.api.forecaster import Forecaster
from app.match.names import CampaignNames
from app.observability.engine import current_engine
from app.observability.logging import START
from app.observability.setup import observe
from app.operators.runtime import Operators
from app.settings import Settings
from app.state import Loading, State
from app.workers.maintenance import prune_regularly, save, save_regularly
from app.workers.readiness import Readiness
from app.workers.standby import POLL_SECONDS, Standby
from campaigns.analyst import Analyst
from campaigns.database.engine import Database
from campaigns.feed.follower import Around
from campaigns.feed.service import WorkerFeed
from campaigns.store import Store

log = logging.getLogger(__name__)

START_SECONDS = 2.0
"""How long the start waits until the worker is ready. If loading takes longer, or the database is
down, the service starts without its index and `/healthz/ready` answers 503 until it is loaded,
unless other workers can answer meanwhile."""


@asynccontextmanager
async def running(
    settings: Settings, worker: int = 0, around: Around | None = None
) -> AsyncIterator[State]:
    """Open the database and the feed and run the background tasks, until the block ends."""
    loading = Loading()
    async with (
        Database(
            settings.database_url, settings.database_connections, settings.database_seconds
        ) as database,
        WorkerFeed(
            settings.database_url,
            settings.redis_url,
            poll=settings.feed_poll_seconds,
            limits=settings.limits,
            keep_in=_directory_of(settings.index_directory, worker),
            progress=loading.update,
            around=around,
        ) as feed,
        Analyst() as analyst,
        AsyncExitStack() as closing,
    ):
        readiness = Readiness(feed.follower, settings.ready_lag_revs)
        standby = Standby(readiness)
        store = Store(database, settings.limits, analyst=analyst)
        background = [asyncio.create_task(prune_regularly(store, settings))]
        if feed.kept is not None:
            background.append(asyncio.create_task(save_regularly(feed, settings)))
        try:
            async with observe(settings, store, feed, worker, standby) as (recorder, directory):
                operators = Operators(recorder.registry, settings.operator_host_names)
                closing.callback(operators.close)
                with suppress(TimeoutError):
                    async with asyncio.timeout(START_SECONDS):
                        await _until(lambda: standby.is_known)
                await _until(lambda: standby.accepts)
                if feed.current is None:
                    background.append(asyncio.create_task(_log_when_loaded(feed)))
                yield State(
                    engine=current_engine(),
                    store=store,
                    feed=feed,
                    loading=loading,
                    standby=standby,
                    recorder=recorder,
                    names=CampaignNames(store),
                    match_settings=settings.match_settings,
                    run_directory=directory,
                    forecaster=Forecaster(store),
                    operators=operators,
                )
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            try:
                await save(feed)
            except OSError as error:
                log.warning("cannot save the index: %s", error)


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(POLL_SECONDS)


async def _log_when_loaded(feed: WorkerFeed) -> None:
    start_log = logging.getLogger(START)
    started = time.monotonic() - START_SECONDS
    start_log.info("loading the index; /healthz/ready answers 200 when it is loaded")
    view = await feed.follower.reached(0)
    seconds = time.monotonic() - started
    start_log.info("loaded %s campaigns in %.1f s", f"{len(view.index):,}", seconds)


def _directory_of(directory: Path | None, worker: int) -> Path | None:
    """Each worker has its own snapshot of the index."""
    return None if directory is None else directory / f"worker-{worker}"
