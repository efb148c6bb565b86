"""The limits of an API key: requests a second, and bytes in a body.

Each worker has a token bucket for each key that has a rate limit. A bucket holds the tokens of one
second; a request takes one, and a batch one for each of its requests. Workers do not share their
buckets, so the limit applies to each worker; a client with one connection talks to one worker.
"""

import math
from dataclasses import dataclass

from app.errors.http_errors import RateExceeded
from campaigns.feed.view import KeyLimits, ServedKey
from campaigns.keys.model import MAX_BODY_BYTES


@dataclass(slots=True)
class Bucket:
    """A token bucket: each second adds `rate` tokens, up to `rate`; below zero they are owed."""

    rate: int
    tokens: float
    at: float

    def take(self, now: float) -> float:
        """Take a token and return 0; if there is none, return the seconds until there is."""
        self.tokens = min(self.rate, self.tokens + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
        if self.tokens < 1:
            return (1 - self.tokens) / self.rate
        self.tokens -= 1
        return 0.0


class RateLimiter:
    """The buckets of all keys, and the limits of the settings for keys without their own."""

    def __init__(self, rate: int | None = None, max_body: int | None = None) -> None:
        self.default = KeyLimits(rate, max_body)
        self.is_on = rate is not None or max_body is not None
        """Whether the settings limit keys that have no limits of their own."""
        self._buckets: dict[int, Bucket] = {}

    def admit(self, key: ServedKey, now: float) -> int:
        """Admit a request that arrived at `now` (`perf_counter`) and return the most bytes that
        its body may have; or raise `RateExceeded`."""
        own = key.limits or self.default
        rate = self.default.rate if own.rate is None else own.rate
        if rate is not None:
            bucket = self._buckets.get(key.id)
            if bucket is None:
                bucket = self._buckets[key.id] = Bucket(rate, rate, now)
            wait = bucket.take(now)
            if wait:
                raise RateExceeded(rate, math.ceil(wait))
        max_body = self.default.max_body if own.max_body is None else own.max_body
        return MAX_BODY_BYTES if max_body is None else max_body

    def charge(self, key: ServedKey, more: int) -> None:
        """Charge an admitted request for `more` tokens; if there are none, later requests wait."""
        bucket = self._buckets.get(key.id)
        if bucket is not None:
            bucket.tokens -= more
