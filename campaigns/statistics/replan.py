"""Plans by what the index of a worker has seen itself, while there are no statistics.

An index starts on the ranking of operators. It samples its own events, so soon after the start it
knows better: it is planned again as soon as the sample is large enough, once more when it is four
times as large, and then whenever the traffic has drifted. Active statistics take over.

The work is done in a thread, in bursts of a tenth of a millisecond with pauses in between; matches
and changes go on.
"""

import asyncio
import logging
import threading
import time
from dataclasses import dataclass

from campaigns.feed.view import View
from campaigns.statistics.apply import Followed
from index import Index
from index.backends.backend import Sampled

log = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
ENOUGH = 64
"""Fewer sampled events are left alone. The index samples one event in 64."""

GROWTH = 4
DRIFT = 0.25
"""Two full samples of the same traffic differ by as much less than once in a million times."""


class Stopped(Exception):
    """The service ends, or statistics have come."""


@dataclass
class OwnPlans:
    """What was planned by the index's own sample, for `/v1/index` and metrics."""

    replans: int = 0
    sampled_events: int = 0
    planned_events: int = 0
    drift: float = 0.0
    last_seconds: float | None = None
    """How long the last replan took."""


class Replanner:
    """Keeps the index of a follower's view planned by its own sample."""

    def __init__(self, follower: Followed, check_seconds: float = CHECK_SECONDS) -> None:
        self.plans = OwnPlans()
        self._follower = follower
        self._check_seconds = check_seconds
        self._stop = threading.Event()

    async def run(self) -> None:
        """Look at the sample now and then, and plan by it where that is due, until cancelled."""
        try:
            while True:
                await asyncio.sleep(self._check_seconds)
                view = self._follower.current
                if view is not None and _is_free(view):
                    await asyncio.to_thread(self._look, view)
        finally:
            self._stop.set()

    def _look(self, view: View) -> None:
        sampled = view.index.sampled()
        self._note(sampled)
        if not is_due(sampled):
            return
        started = time.monotonic()
        try:
            self._replan(view, view.index)
        except Stopped:
            return
        self.plans.replans += 1
        self.plans.last_seconds = time.monotonic() - started
        self._note(view.index.sampled())
        log.info(
            "planned %d campaigns by %d sampled events in %.1f s",
            len(view.index),
            self.plans.planned_events,
            self.plans.last_seconds,
        )

    def _replan(self, view: View, index: Index) -> None:
        def progress(_done: int, _total: int) -> None:
            if self._stop.is_set() or not _is_free(view):
                raise Stopped

        index.replan(progress)

    def _note(self, sampled: Sampled) -> None:
        plans = self.plans
        plans.sampled_events, plans.planned_events, plans.drift = sampled


def is_due(sampled: Sampled) -> bool:
    """Whether planning by this sample is worth it."""
    if sampled.events < ENOUGH:
        return False
    return sampled.events >= GROWTH * sampled.planned or sampled.drift > DRIFT


def _is_free(view: View) -> bool:
    """Whether the index neither uses statistics nor should."""
    return view.statistics is None and view.arranged is None
