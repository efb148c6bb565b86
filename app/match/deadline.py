"""How long a request has waited, and how long it may.

    came ──────── waited ────────▶ looked at ──── match ───▶ answered
      └──────────────────── tmax_ms ────────────────────┘

A worker does one thing at a time, so what arrives while it is busy waits. What has waited longer
than its sender does, or than anybody should, is refused at once: work on it would only make the
next one late.
"""

import asyncio

from app.errors.http_errors import Behind, Overdue, Overloaded
from campaigns.feed.follower import Follower
from campaigns.feed.view import View

LONGEST_WAIT_FOR_REV = 0.5


def check_waited(waited: float, tmax_ms: float | None, longest: float) -> None:
    """Refuse a request that can no longer be answered in time; seconds, but for `tmax_ms`."""
    if tmax_ms is not None and waited * 1000 >= tmax_ms:
        raise Overdue(waited, tmax_ms)
    if waited > longest:
        raise Overloaded(waited)


async def view_at(follower: Follower, view: View, rev: int, seconds: float) -> View:
    """The view once it has a rev, waiting for it a little; `Behind` if it does not come."""
    if view.place.rev >= rev:
        return view
    try:
        async with asyncio.timeout(max(0.0, min(seconds, LONGEST_WAIT_FOR_REV))):
            return await follower.reached(rev)
    except TimeoutError:
        place = (follower.current or view).place
        raise Behind(place.epoch, place.rev, rev) from None
