"""How the parent knows that a worker is alive: its event loop writes into a pipe.

    worker    l l l l s s s s s …      l: loading, s: serving, r: started
    parent    reads, and kills a worker that is silent for too long: stopped, or stuck in its loop

A worker that is only slow must not be killed: its successor would have to do the same work again.
So a loading worker may be silent for much longer. And if the parent itself did not run for a while
(both may have been stopped), every worker gets its full time again.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

EVERY = 1.0
LOADING, SERVING, STARTED = b"l", b"s", b"r"

LOADING_SECONDS = 120.0
"""The shortest silence for which a worker is killed that is loading, or has not started."""

ASLEEP_SECONDS = 2.0
"""A parent that did not look for this long was not running."""


class Heartbeat:
    """The worker's side; it owns the pipe from now on."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)  # a parent that does not read must not block the worker
        self._pipe = pipe

    def send(self, signal: bytes) -> None:
        """Write to the parent, if it is there and reads."""
        with suppress(OSError):
            os.write(self._pipe, signal)

    def beat(self, loading: bool) -> None:
        """Send one beat, now."""
        self.send(LOADING if loading else SERVING)

    async def run(self, is_loading: Callable[[], bool]) -> None:
        """Beat regularly, until cancelled."""
        while True:
            self.beat(is_loading())
            await asyncio.sleep(EVERY)


@dataclass(slots=True)
class HeartbeatMonitor:
    """The parent's side: when a worker was last heard, by the parent's own clock."""

    seconds: float
    """How long a serving worker may be silent; 0 for any time."""

    heard_at: float
    loading: bool = True

    def hear(self, signals: bytes, now: float) -> None:
        """The worker has sent something."""
        self.heard_at = now
        self.loading = not signals.endswith(SERVING)

    def is_silent(self, now: float) -> bool:
        """Whether the worker has been silent for too long."""
        seconds = max(self.seconds, LOADING_SECONDS) if self.loading else self.seconds
        return bool(self.seconds) and now - self.heard_at > seconds
