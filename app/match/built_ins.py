"""The built-in attributes of every event, from the time of the request."""

from functools import lru_cache


def built_ins(now: float) -> dict[str, object]:
    """`now.hour` (0 to 23) and `now.weekday` (ISO, 1 to 7), in UTC. Do not change the result."""
    return _of_hour(int(now // 3600))


@lru_cache(maxsize=4)
def _of_hour(hours: int) -> dict[str, object]:
    # 1 January 1970 was a Thursday.
    return {"now.hour": hours % 24, "now.weekday": (hours // 24 + 3) % 7 + 1}
