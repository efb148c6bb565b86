"""The one reading of the clock that a request gets, and what campaigns see of it."""

from functools import lru_cache


def built_ins(now: float) -> dict[str, object]:
    """`now.hour` (0 to 23) and `now.weekday` (ISO, 1 to 7), in UTC. Not to be changed."""
    return _of_hour(int(now // 3600))


@lru_cache(maxsize=4)
def _of_hour(hours: int) -> dict[str, object]:
    # The first of January 1970 was a Thursday.
    return {"now.hour": hours % 24, "now.weekday": (hours // 24 + 3) % 7 + 1}
