"""The sampler: it takes a request now and then, and counts what became of it for each campaign.

    match ── offer ──▶ one request ── counts ──▶ memory ── every minute ──▶ database, added up

It is paid for in time: after a request that took t seconds of CPU it waits for t / share seconds,
so that it uses at most its share of a worker, however many campaigns there are. It works in
slices between which matches are answered. Writing is paid for in the same way, by the row.

With more campaigns than `most`, it counts every k-th, the same ones in all workers.
"""

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from app.observability.delivery.sample import Outcome, SampledRequest, Trees, outcome_of
from campaigns.backoff import jitter
from campaigns.delivery import service
from campaigns.delivery.model import HOUR, Counts
from campaigns.errors import CampaignsError
from campaigns.feed.service import WorkerFeed
from campaigns.feed.view import View
from campaigns.store import Store

log = logging.getLogger(__name__)

SLICE = 0.0003
"""Seconds after which matches have their turn."""

SLICE_PAUSE = 0.005
"""Seconds until the next slice. Slices in every turn of a busy event loop would take much of its
time, and matches would pile up behind each sampled request."""

SHORTEST_PAUSE = 0.1
EXPLAINED = 50
"""Campaigns whose miss is explained, for each sampled request."""

KEPT_REQUESTS = 200
"""The last sampled requests, for dry runs."""

ROW_SECONDS = 5e-6
"""CPU of the worker for a row that is written."""

KEPT_HOURS = 3
"""Hours that are kept while the database is down."""

LARGE_PAUSE = 600.0
"""Seconds between two looks at the ids of an index with more campaigns than are counted."""

_CHANCE = random.SystemRandom()


class DeliverySampler:
    """Samples requests of one worker. `due` is the time from which on it takes the next one."""

    def __init__(
        self,
        store: Store,
        feed: WorkerFeed,
        share: float,
        most: int,
        seconds: float,
        permits: Callable[[str], bool],
    ) -> None:
        self.due = 0.0 if share > 0 else math.inf
        self.cpu_seconds = 0.0
        self.kept: deque[dict[str, Any]] = deque(maxlen=KEPT_REQUESTS)
        """The last sampled requests that may be shown, the newest last."""

        self._store = store
        self._feed = feed
        self._share = share / 2  # the other half is for writing
        self._most = most
        self._seconds = seconds
        self._permits = permits
        self._offered: asyncio.Queue[tuple[SampledRequest, float]] = asyncio.Queue(1)
        self._hours: dict[int, Counts] = {}
        self._trees = Trees()
        self._counted: frozenset[int] = frozenset()
        self._ids: list[int] = []
        self._looked_at: tuple[View, int] | None = None
        self._look_again = 0.0

    def offer(
        self, request: SampledRequest, now: float, route: str, shown: dict[str, object]
    ) -> None:
        """Take a request, since `now` is after `due`; `shown` are its attributes without what the
        impression log may not have."""
        self.due = math.inf
        self._offered.put_nowait((request, now))
        attributes = {name: value for name, value in shown.items() if self._permits(name)}
        self.kept.append({"at": now, "route": route, "attributes": attributes})

    async def run(self) -> None:
        """Count what is offered, and write it regularly, until cancelled."""
        writing = asyncio.create_task(self._write_regularly())
        try:
            while True:
                request, now = await self._offered.get()
                started = self.cpu_seconds
                view = self._feed.current
                if view is not None:
                    await self._count(view, request, int(now) // HOUR)
                pause = (self.cpu_seconds - started) / self._share
                self.due = time.time() + max(SHORTEST_PAUSE, pause) * jitter(0.2)
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _count(self, view: View, request: SampledRequest, hour: int) -> None:
        outcome = await asyncio.to_thread(self._look, view, request)
        if outcome is None:
            return
        started = time.thread_time()
        counts = self._hours.setdefault(hour, Counts())
        counted = self._counted
        counts.consider(counted)
        counts.matched.update(counted & outcome.matched)
        counts.answered.update(counted.intersection(request.answered))
        some = _CHANCE.sample(self._ids, min(EXPLAINED, len(self._ids)))
        left_at = time.thread_time() + SLICE
        for id, (code, predicate) in outcome.reasons(some, self._trees):
            counts.explain(id, code, predicate)
            if time.thread_time() >= left_at:
                self.cpu_seconds += time.thread_time() - started
                await asyncio.sleep(SLICE_PAUSE)
                started = time.thread_time()
                left_at = started + SLICE
        self.cpu_seconds += time.thread_time() - started
        while len(self._hours) > KEPT_HOURS:
            del self._hours[min(self._hours)]

    def _look(self, view: View, request: SampledRequest) -> Outcome | None:
        """Ask the index, in a thread: the native core needs no lock of the interpreter."""
        started = time.thread_time()
        self._look_at_ids(view)
        outcome = outcome_of(view.index, request)
        self.cpu_seconds += time.thread_time() - started
        return outcome

    def _look_at_ids(self, view: View) -> None:
        place = (view, view.place.rev)
        if place == self._looked_at or time.monotonic() < self._look_again:
            return
        every = max(1, math.ceil(len(view.index) / self._most))
        self._ids = view.index.multiples(every)
        self._counted = frozenset(self._ids)
        self._looked_at = place
        self._look_again = time.monotonic() + LARGE_PAUSE if every > 1 else 0.0

    async def _write_regularly(self) -> None:
        while True:
            rows = await self.write()
            pause = rows * ROW_SECONDS / self._share
            await asyncio.sleep(max(self._seconds, pause) * jitter(0.2))

    async def write(self) -> int:
        """Add the counts to the database; returns the number of rows. If it cannot be reached,
        they wait for the next time."""
        rows = 0
        for hour in sorted(self._hours):
            counts = self._hours.pop(hour)
            counts.settle()
            written = False
            try:
                await service.add(self._store, hour, counts)
                written = True
                rows += counts.rows
            except (CampaignsError, OSError) as error:
                log.warning("the delivery could not be written: %s", error)
            finally:
                if not written:
                    self._hours.setdefault(hour, Counts()).add(counts)
        return rows
