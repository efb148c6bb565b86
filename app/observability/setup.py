"""The observability of a worker: its metrics, its impression log, and its socket for the others."""

import asyncio
import platform
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from app.match.recorder import Recorder
from app.observability.delivery.sampler import DeliverySampler
from app.observability.engine import current_engine
from app.observability.impressions.log import ImpressionLog
from app.observability.impressions.writer import Reason
from app.observability.metrics.collect import ASK, record_final_counts
from app.observability.metrics.registry import Registry
from app.observability.status import REQUESTS, STATUS, status_of
from app.settings import Settings
from app.workers.peers import Peer
from app.workers.run_directory import run_directory
from app.workers.standby import Standby
from campaigns.catalogue.privacy import Denylist
from campaigns.feed.service import WorkerFeed
from campaigns.store import Store
from index import Index

SAMPLE_SECONDS = 15.0


@asynccontextmanager
async def observe(
    settings: Settings, store: Store, feed: WorkerFeed, worker: int, standby: Standby
) -> AsyncIterator[tuple[Recorder, Path]]:
    """Record while the block runs; at its end the log is written and the counts are kept."""
    registry = Registry(str(worker))
    log = _impressions(settings, feed, worker)
    recorder = Recorder(registry, log, settings.impression_sample_rate)
    sampler = _sampler(settings, store, feed)
    recorder.delivery = sampler
    gauges = Gauges(registry, feed, log)
    registry.before_dump(gauges.refresh)
    answers = {
        ASK: registry.dump,
        STATUS: lambda: status_of(feed),
        REQUESTS: lambda: list(sampler.kept),
        **standby.answers,
    }
    with run_directory(settings.run_directory) as directory:
        async with Peer(directory, f"w{worker}", answers) as peer:
            tasks = [
                asyncio.create_task(gauges.keep_sampling()),
                asyncio.create_task(sampler.run()),
                asyncio.create_task(standby.run(peer)),
            ]
            try:
                yield recorder, directory
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await sampler.write()
                if log is not None:
                    await asyncio.to_thread(log.close, float(max(1, settings.drain_seconds)))
                await record_final_counts(directory, peer, registry)


class Gauges:
    """Numbers that are kept elsewhere, copied when Prometheus asks."""

    def __init__(self, registry: Registry, feed: WorkerFeed, log: ImpressionLog | None) -> None:
        self._registry = registry
        self._feed = feed
        self._log = log
        self._unknown: dict[str, int] = {}
        self._index: Index | None = None
        engine = current_engine()
        labels = (version("copse"), engine.name, platform.python_version())
        registry.gauge("copse_build_info", *labels).value = 1
        # At 0 from the start: Prometheus sees no increase in a series that appears at 1.
        for reason in get_args(Reason) if log else ():
            registry.counter("copse_impressions_lost_total", reason)

    def refresh(self) -> None:
        """Copy the numbers."""
        registry, follower = self._registry, self._feed.follower
        registry.gauge("copse_feed_lag_revs").value = follower.lag
        registry.gauge("copse_feed_lag_seconds").value = follower.stale_seconds or 0.0
        for (what, reason), count in list(follower.counts.items()):
            if what != "applied":
                way = "load" if what == "load" else "log"
                registry.counter("copse_feed_resyncs_total", way, reason).copy(count)
        if self._log is not None:
            counts = self._log.counts()
            registry.counter("copse_impressions_written_total").copy(counts.written)
            for reason, lost in counts.lost.items():
                registry.counter("copse_impressions_lost_total", reason).copy(lost)
        view = follower.current
        if view is None:
            return
        if follower.stream_up is not None:
            registry.gauge("copse_redis_up").value = int(follower.stream_up)
        registry.gauge("copse_index_revision").value = view.place.rev
        registry.gauge("copse_index_campaigns").value = len(view.index)
        registry.counter("copse_index_replans_total").copy(self._feed.plans.replans)
        registry.gauge("copse_poisoned_changes").value = len(view.poisoned)
        if view.arranged is None:
            registry.forget("copse_statistics_age_seconds")
        else:
            age = time.time() - view.arranged.window_to
            registry.gauge("copse_statistics_age_seconds").value = age

    async def keep_sampling(self) -> None:
        """Regularly ask the index for its usage, in a thread, since that may take a moment."""
        while True:
            view = self._feed.current
            if view is not None:
                self._take(view.index, await asyncio.to_thread(view.index.usage))
            await asyncio.sleep(SAMPLE_SECONDS)

    def _take(self, index: Index, usage: dict[str, Any]) -> None:
        registry = self._registry
        for part, size in usage.get("bytes", {}).items():
            registry.gauge("copse_index_bytes", part).value = size
        if "postings_read" in usage:
            registry.gauge("copse_postings_per_request").value = usage["postings_read"]
        if self._index is not index:  # a new index counts from zero
            self._index, self._unknown = index, {}
        for name, count in usage["unknown_attributes"].items():
            more = count - self._unknown.get(name, 0)
            self._unknown[name] = count
            registry.counter("copse_unknown_attributes_total", name).add(more)


def _impressions(settings: Settings, feed: WorkerFeed, worker: int) -> ImpressionLog | None:
    if settings.impressions_dir is None:
        return None
    log = ImpressionLog(settings.impressions_dir, f"w{worker}", permits=_permits(feed))
    log.start()
    return log


def _sampler(settings: Settings, store: Store, feed: WorkerFeed) -> DeliverySampler:
    share, most = settings.delivery_share, settings.delivery_campaigns
    return DeliverySampler(store, feed, share, most, settings.delivery_seconds, _permits(feed))


def _permits(feed: WorkerFeed) -> Callable[[str], bool]:
    """Which attributes may be kept: those of the catalogue that no rule of privacy names."""
    deny = Denylist()

    def permits(name: str) -> bool:
        view = feed.current
        return view is not None and name in view.catalogue and deny.permits(name)

    return permits
