"""Runs the actions of the replica's protocol (`replica.py`), and reports their results to it.

Each lane (stream, log, load) is at most one task, which always ends in a message, whatever goes
wrong in it. Nothing queues up between them: the next entries of the stream are read only after the
last were applied, so a slow replica costs Redis nothing and itself one page of memory.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from campaigns.backoff import jitter
from campaigns.feed.apply import apply, size
from campaigns.feed.index_file import IndexFile
from campaigns.feed.load import Progress, load
from campaigns.feed.messages import (
    LOAD,
    LOG,
    STREAM,
    Action,
    Adopt,
    Apply,
    Entries,
    Failed,
    Load,
    Loaded,
    Message,
    ReadLog,
    ReadStream,
    Report,
    Swap,
    Tick,
    Unfollowable,
)
from campaigns.feed.replica import ReplicaState, Timing, step
from campaigns.feed.source import Source
from campaigns.feed.stream import ForeignEntry, Stream
from campaigns.feed.view import View
from index import Limits

log = logging.getLogger(__name__)

HANDFUL = 8
HANDFUL_BYTES = 32_768
"""More changes, or more bytes, are applied in a thread, beside the event loop."""

LONGEST_NAP = 0.25

TOLERANCE = 0.25
"""A heartbeat may be late by this many seconds."""

Around = Callable[[str, int, int], AbstractContextManager[None]]
"""A context around applied changes: their lane, their number, their last rev."""

Work = Callable[[], Awaitable[Message]]


class Follower:
    """A replica that follows the database while `run` runs; `current` is the view that it serves.

    `current` is None until the first load. Readers take it once and use that object.
    """

    def __init__(
        self,
        source: Source,
        stream: Stream | None = None,
        *,
        timing: Timing | None = None,
        limits: Limits | None = None,
        kept: IndexFile | None = None,
        progress: Progress | None = None,
        around: Around | None = None,
    ) -> None:
        self.current: View | None = None
        self.state = ReplicaState()
        self.counts: Counter[tuple[str, str]] = Counter()
        """Resyncs and loads by reason, and applied changes by lane."""

        self.confirmed_at: float | None = None
        """When the head last showed that nothing was missing (`time.monotonic`)."""

        self._source = source
        self._stream = stream
        self._timing = timing or Timing(stream=stream is not None)
        self._limits = limits or Limits()
        self._kept = kept
        self._progress = progress
        self._around: Around = around or (lambda *_: nullcontext())
        self._lanes: dict[str, asyncio.Task[Message]] = {}
        self._ending: set[asyncio.Task[Message]] = set()
        self._failing: set[str] = set()
        self._aside: View | None = None
        self._moved = asyncio.Event()
        self._applying = asyncio.Lock()

    @property
    def lag(self) -> int:
        """The number of known revs that are not applied."""
        rev = self.current.place.rev if self.current else 0
        return max(0, self.state.head_rev - rev)

    @property
    def stale_seconds(self) -> float | None:
        """How old the view may be: 0 while each heartbeat finds nothing missing; None at first.

        Nothing is known between two heartbeats, so the count begins with the first that is missing,
        also if nothing failed and this process only had no time to ask.
        """
        if self.confirmed_at is None:
            return None
        since = time.monotonic() - self.confirmed_at
        return since if self.lag else max(0.0, since - self._timing.heartbeat - TOLERANCE)

    @property
    def failing(self) -> frozenset[str]:
        """The lanes whose last attempt failed."""
        return frozenset(self._failing)

    @property
    def stream_up(self) -> bool | None:
        """Whether the stream in Redis can be read; None without Redis, and before the first load,
        since nobody has tried."""
        if self._stream is None or self.current is None:
            return None
        return STREAM not in self._failing

    async def run(self) -> None:
        """Follow until cancelled. An unexpected error costs a reload, never the replica."""
        while True:
            try:
                await self._follow()
            except Exception:
                log.exception("the replica failed: it starts again with a load")
                self.state = ReplicaState(loading="failure")
                self.counts["load", "failure"] += 1
                await asyncio.sleep(self._timing.retry.last)

    async def _follow(self) -> None:
        try:
            while True:
                await self._tell(Tick())
                for lane in await self._next():
                    if lane in self._lanes:  # an earlier message may have replaced it
                        await self._tell(self._lanes.pop(lane).result())
        finally:
            tasks = [*self._lanes.values(), *self._ending]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._lanes.clear()

    async def reached(self, rev: int) -> View:
        """Wait until a rev is applied; returns the view that has it."""
        while self.current is None or self.current.place.rev < rev:
            moved = self._moved
            await moved.wait()
        return self.current

    async def moved(self) -> None:
        """Wait until more changes are applied."""
        await self._moved.wait()

    async def save(self, kept: IndexFile) -> None:
        """Save the index to a file; nothing is applied meanwhile, matching goes on."""
        async with self._applying:
            if self.current is not None and not self.current.stalled:
                await asyncio.to_thread(kept.save, self.current)

    # The loop.

    async def _next(self) -> list[str]:
        """The lanes that have finished, as soon as one has or something is due."""
        nap = min(LONGEST_NAP, max(0.001, self._due() - time.monotonic()))
        if not self._lanes:
            await asyncio.sleep(nap)
            return []
        await asyncio.wait(self._lanes.values(), timeout=nap, return_when=asyncio.FIRST_COMPLETED)
        return [lane for lane, task in self._lanes.items() if task.done()]

    def _due(self) -> float:
        """When the protocol would ask for something next."""
        state = self.state
        if state.loading:
            return float("inf") if state.load_asked else state.load_due
        log_due = float("inf") if state.log_asked else state.log_due
        waits = state.stream_asked or state.behind or not self._timing.stream
        return min(log_due, float("inf") if waits else state.stream_due)

    async def _tell(self, message: Message) -> None:
        messages = [message]
        while messages:
            now = time.monotonic()
            self.state, actions = step(self.state, messages.pop(0), now, self._timing)
            for action in actions:
                answer = await self._do(action)
                if answer is not None:
                    messages.append(answer)
        if self.state.head_at is not None and self.state.rev >= self.state.head_rev:
            self.confirmed_at = max(self.confirmed_at or 0.0, self.state.head_at)

    async def _do(self, action: Action) -> Message | None:
        match action:
            case ReadLog():
                self._start(LOG, lambda: self._source.read_log(action))
            case ReadStream(epoch, after):
                self._start(STREAM, lambda: self._read_stream(epoch, after))
            case Load(reason):
                log.info("loading everything from the database: %s", reason)
                self._start(LOAD, self._load)
            case Apply(changes, lane):
                return await self._apply(action, lane, len(changes))
            case Swap():
                async with self._applying:
                    self.current, self._aside = self._aside, None
                self._tell_waiting()
            case Adopt(epoch):
                if self.current is not None:
                    place = self.current.place
                    self.current.arrive(epoch, place.rev, place.nonce)
            case Report(what, reason):
                self.counts[what, reason] += 1
                log.log(logging.WARNING if what == "load" else logging.INFO, "%s: %s", what, reason)
        return None

    async def _apply(self, action: Apply, lane: str, count: int) -> Message | None:
        view = self.current
        assert view is not None, "changes are applied after the first load"
        async with self._applying:
            with self._around(lane, count, action.changes[-1].rev):
                await self._take(view, action, count)
        self.counts["applied", lane] += count
        self._tell_waiting()
        return Unfollowable(view.stalled) if view.stalled else None

    async def _take(self, view: View, action: Apply, count: int) -> None:
        if count <= HANDFUL and size(action.changes) <= HANDFUL_BYTES:
            apply(view, action.changes)
        else:
            await asyncio.to_thread(apply, view, action.changes)

    def _tell_waiting(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    # The lanes.

    def _start(self, lane: str, work: Work) -> None:
        earlier = self._lanes.pop(lane, None)
        if earlier is not None:
            earlier.cancel()
            self._ending.add(earlier)
            earlier.add_done_callback(self._ending.discard)
        self._lanes[lane] = asyncio.create_task(self._guarded(lane, work))

    async def _guarded(self, lane: str, work: Work) -> Message:
        """The message that the work ends in; on any error, that it failed."""
        try:
            message = await work()
        except Exception as error:
            if lane not in self._failing:
                log.warning("the %s cannot be read: %s: %s", lane, type(error).__name__, error)
            if isinstance(error, ForeignEntry):
                self.counts["resync", "foreign"] += 1
            elif lane == STREAM and lane not in self._failing:
                self.counts["resync", "unreadable"] += 1
            self._failing.add(lane)
            return Failed(lane, jitter())
        if lane in self._failing:
            self._failing.discard(lane)
            log.warning("the %s can be read again", lane)
        return message

    async def _read_stream(self, epoch: str, after: int) -> Message:
        assert self._stream is not None, "without Redis no stream is read"
        return Entries(epoch, await self._stream.read(epoch, after))

    async def _load(self) -> Message:
        # Only the first load can use the file: a reload has a reason not to trust it.
        kept = self._kept if self.current is None else None
        self._aside = await load(self._source, self._limits, self._progress, kept)
        place = self._aside.place
        return Loaded(place.epoch, place.rev, place.nonce)

    def describe(self) -> dict[str, Any]:
        """The state of the replica, for people and for metrics."""
        view = self.current
        return {
            "epoch": view.place.epoch if view else None,
            "rev": view.place.rev if view else None,
            "applied_at": view.place.at if view else None,
            "lag_revs": self.lag,
            "lag_seconds": self.stale_seconds,
            "digest": view.digest() if view else None,
            "campaigns": len(view.index) if view else 0,
            "loading": self.state.loading,
            "failing": sorted(self._failing),
            "counts": {f"{what} {why}": n for (what, why), n in sorted(self.counts.items())},
            "poisoned": list(view.poisoned.values()) if view else [],
        }
