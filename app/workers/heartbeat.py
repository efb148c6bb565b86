"""How a parent knows that a worker lives: it beats, from its event loop, into a pipe.

    worker    l l l l s s s s s …        l: it is loading, s: it serves, r: it has started
    parent    hears, and kills one that is silent for too long: stopped, or stuck in its loop

A process that is only slow must not be killed: then its successor has the same work to do again.
So one that loads may be silent for much longer, and when the parent itself did not run for a while
(both may have been stopped), everybody gets as much time again.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

EVERY = 1.0
LOADING, SERVING, STARTED = b"l", b"s", b"r"

LOADING_SECONDS = 120.0
"""A worker that loads, or has not said anything yet, may be silent for at least so long."""

ASLEEP_SECONDS = 2.0
"""A parent that did not look for so long was not there to hear anything."""


class Heart:
    """A worker's side, on a pipe that is its own from now on."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)  # a parent that does not read must not stop us
        self._pipe = pipe

    def say(self, what: bytes) -> None:
        """Tell the parent; one that is gone, or does not listen, is not told."""
        with suppress(OSError):
            os.write(self._pipe, what)

    def beat_once(self, loading: bool) -> None:
        """Now, and not only when it is due."""
        self.say(LOADING if loading else SERVING)

    async def beat(self, is_loading: Callable[[], bool]) -> None:
        """Until cancelled."""
        while True:
            self.beat_once(is_loading())
            await asyncio.sleep(EVERY)


@dataclass(slots=True)
class Pulse:
    """The parent's side: when a worker was last heard, by the parent's own clock."""

    patience: float
    """How many seconds a worker that serves may be silent; 0 is for ever."""

    heard_at: float
    loading: bool = True

    def hear(self, said: bytes, now: float) -> None:
        """The worker said something."""
        self.heard_at = now
        self.loading = not said.endswith(SERVING)

    def is_silent(self, now: float) -> bool:
        """Whether the worker has been silent for too long."""
        patience = max(self.patience, LOADING_SECONDS) if self.loading else self.patience
        return bool(self.patience) and now - self.heard_at > patience
