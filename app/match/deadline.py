"""How long a request has waited, and how long it may.

    arrived ──────── waited ────────▶ handled ──── match ───▶ answered
      └───────────────────── tmax_ms ──────────────────────┘

A worker does one thing at a time, so a request that arrives while it is busy waits. A request that
has waited longer than its sender does, or longer than the setting allows, is refused immediately:
work on it would only make the next one late.
"""

import asyncio
from time import perf_counter

from app.errors.http_errors import Behind, Overdue, Overloaded
from app.server.match_queue import MatchQueue
from campaigns.feed.follower import Follower
from campaigns.feed.view import View

LONGEST_WAIT_FOR_REV = 0.5


def time_left(waited: float, tmax_ms: float | None, longest: float) -> float:
    """The seconds left to answer a request that has waited for `waited` seconds; `Overdue` or
    `Overloaded` if there are none. `longest` is in seconds."""
    if tmax_ms is not None and waited * 1000 >= tmax_ms:
        raise Overdue(waited, tmax_ms)
    if waited > longest:
        raise Overloaded(waited)
    return (longest if tmax_ms is None else tmax_ms / 1000) - waited


class _Turn:
    """The turn of a request that has its own task."""

    def __init__(self) -> None:
        self.given: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def answer(self) -> bool:
        if self.given.done():  # the client has gone
            return False
        self.given.set_result(None)
        return True

    def shed(self, waited: float) -> None:
        if not self.given.done():
            self.given.set_exception(Overloaded(waited))


async def queue_turn(queue: MatchQueue) -> None:
    """Wait for a turn in the queue; `Overloaded` if there is none."""
    turn = _Turn()
    queue.add(perf_counter(), turn)
    await turn.given


async def view_at(follower: Follower, view: View, rev: int, seconds: float) -> View:
    """The view once it has reached a rev; `Behind` if it does not within the seconds."""
    if view.place.rev >= rev:
        return view
    try:
        async with asyncio.timeout(min(seconds, LONGEST_WAIT_FOR_REV)):
            return await follower.reached(rev)
    except TimeoutError:
        place = (follower.current or view).place
        raise Behind(place.epoch, place.rev, rev) from None
