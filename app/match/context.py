"""What a request on the hot path carries with it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.match.hot_path import HotPath
from app.match.recorder import Watching
from campaigns.feed.follower import Follower
from campaigns.feed.view import View


@dataclass(slots=True)
class Handling:
    """A request, its key checked: when it came (`perf_counter`), and what answers it.

    Nobody changes it but a batch, which says how many it is. It is not frozen because that would
    cost 0.6 µs a request.
    """

    came: float
    view: View
    follower: Follower
    watching: Watching
    path: HotPath
    asked: int = 1
    """How many requests there are in it."""


Handler = Callable[[Handling, bytes], Awaitable[bytes | None]]
"""From a body to an answer, or to none (204); what is refused is raised."""
