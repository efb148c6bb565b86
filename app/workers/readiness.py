"""When a worker may be sent requests: once, its index has to be there and nearly up to date.

    loading ──▶ loaded, behind by too much ──▶ ready ──▶ ready, whatever becomes of the database

It takes a while to load a large index, and changes go on meanwhile: a worker that began to answer
right then would answer from a state that the others left long ago. From then on it stays ready. It
can always answer, and says how stale it is; and what makes one worker lag, a large import or a
database that is gone, makes all of them lag: there would be nobody left.
"""

from campaigns.feed.follower import Follower


class Readiness:
    """Of one worker; `revs` is how many changes may be missing at first."""

    def __init__(self, follower: Follower, revs: int) -> None:
        self._follower = follower
        self._revs = revs
        self._ready = False

    def is_ready(self) -> bool:
        """Whether it is, or has been."""
        self._ready = self._ready or self._has_caught_up()
        return self._ready

    def _has_caught_up(self) -> bool:
        follower = self._follower
        if follower.current is None:
            return False
        if "log" in follower.failing:  # nobody knows how far it is, and it cannot get any nearer
            return True
        return follower.state.head_at is not None and follower.lag <= self._revs
