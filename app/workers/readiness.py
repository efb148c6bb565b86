"""When a worker is ready for requests: once its index has been loaded and nearly up to date.

    loading ──▶ loaded, too far behind ──▶ ready ──▶ ready, whatever happens to the database

A large index takes a while to load, and campaigns change meanwhile: a worker that answered right
after the load would answer from an older state than the others. Once ready, a worker stays ready.
It can always answer, and it reports how stale it is. And what makes one worker lag, a large import
or a database that is down, makes all of them lag: no worker would be left.
"""

from campaigns.feed.follower import Follower


class Readiness:
    """The readiness of one worker; `revs` is the most changes that may be missing at first."""

    def __init__(self, follower: Follower, revs: int) -> None:
        self._follower = follower
        self._revs = revs
        self._ready = False

    def is_ready(self) -> bool:
        """Whether the worker is ready, or has ever been."""
        self._ready = self._ready or self._has_caught_up()
        return self._ready

    def _has_caught_up(self) -> bool:
        follower = self._follower
        if follower.current is None:
            return False
        if "log" in follower.failing:  # its lag is unknown, and it cannot catch up
            return True
        return follower.state.head_at is not None and follower.lag <= self._revs
