"""Which workers accept connections: those that are ready, or any worker while none is ready.

All workers share one socket, and a request is answered by the worker that accepts it. A worker
without an index can only answer probes, and would refuse its share of the matches although another
worker can answer them.

    not ready, and nobody else is      accepts: probes get their answer
    not ready, another worker is       stands by
    ready                              accepts, and has the others stand by that are not ready;
                                       only then `/healthz/ready` says so
    told to end, the service goes on   serves until another worker is ready

A worker listens to the others before it asks them. So of two that become ready at the same time
at least one hears of the other.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from app.workers.peers import Peer, ask_all
from app.workers.readiness import Readiness

log = logging.getLogger(__name__)

DUTY = "duty"
"""The question to the other workers: do you serve, and have you been told to end?"""

STAND_BY = "stand by"
"""The request to the other workers: a worker is ready now, so do not accept unless you are, too."""

LOOK_SECONDS = 1.0
POLL_SECONDS = 0.01

TELL_SECONDS = 5.0
"""How long a worker that is ready waits for the others to stand by; one that hangs says nothing."""


class Standby:
    """Whether a worker accepts connections."""

    def __init__(self, readiness: Readiness) -> None:
        self.accepts = False
        self.is_known = False
        """Every other worker knows that this one is ready."""

        self.on_change: Callable[[bool], None] = lambda accepts: None
        """Called when `accepts` has changed."""

        self.is_ready = readiness.is_ready
        self._peer: Peer | None = None
        self._another_is_ready = False
        self._told_to_end = False
        self._has_ended = False

    @property
    def answers(self) -> dict[str, Callable[[], Any]]:
        """The answers to the questions of other workers."""
        return {DUTY: self._duty, STAND_BY: self._stand_by}

    async def run(self, peer: Peer) -> None:
        """Ask the others until this worker is ready, then tell them; `peer` answers by now."""
        self._peer = peer
        logged = False
        while not self.is_ready():
            self._another_is_ready = False
            duties = await self._ask()
            # Another one may have become ready meanwhile, and have said so.
            stands_by = self._another_is_ready or any(each["serves"] for each in duties.values())
            self._set(not stands_by)
            await self._wait(LOOK_SECONDS)
            if stands_by and not logged and not self.is_ready():
                log.warning("the index is not loaded: other workers serve until it is")
                logged = True
        self._set(True)
        end = time.monotonic() + TELL_SECONDS
        while (await ask_all(peer.directory, STAND_BY, LOOK_SECONDS)).silent:
            if time.monotonic() > end:
                break
            await asyncio.sleep(POLL_SECONDS)
        self.is_known = True

    async def may_end(self) -> bool:
        """Whether a worker that was told to end may do so: another one is ready and goes on. If all
        have been told to end, the last one by name goes on until a successor is ready."""
        self._told_to_end = True
        if self._peer is None or not self.is_ready():
            return True
        name = self._peer.name
        return any(
            duty["serves"] and (not duty["told_to_end"] or other > name)
            for other, duty in (await self._ask()).items()
            if other != name
        )

    def end(self) -> None:
        """The worker accepts nothing from now on."""
        self._has_ended = True

    async def _ask(self) -> dict[str, dict[str, bool]]:
        assert self._peer is not None
        return (await ask_all(self._peer.directory, DUTY, LOOK_SECONDS)).heard

    async def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_ready():
            await asyncio.sleep(POLL_SECONDS)

    def _duty(self) -> dict[str, bool]:
        serves = self.is_ready() and not self._has_ended
        return {"serves": serves, "told_to_end": self._told_to_end}

    def _stand_by(self) -> bool:
        if not self.is_ready():
            self._another_is_ready = True
            self._set(False)
        return True

    def _set(self, accepts: bool) -> None:
        if accepts != self.accepts:
            self.accepts = accepts
            self.on_change(accepts)
