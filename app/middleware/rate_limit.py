"""What a key may send: so many requests a second, so many bytes in a body.

Each worker has a bucket of tokens for each key that has a limit: it holds as many as a second
brings, a request takes one, and a batch as many as it has requests. Workers do not tell each other
what they have given, so a limit is one of each worker; who has one connection meets one worker.
"""

import math
from dataclasses import dataclass

from app.errors.http_errors import RateExceeded
from campaigns.feed.view import KeyLimits, ServedKey
from campaigns.keys.model import MAX_BODY_BYTES


@dataclass(slots=True)
class Bucket:
    """Tokens, of which each second brings `rate`, up to `rate`; below zero they are owed."""

    rate: int
    tokens: float
    at: float

    def take(self, now: float) -> float:
        """Take one; if there is none, the seconds until there is."""
        self.tokens = min(self.rate, self.tokens + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
        if self.tokens < 1:
            return (1 - self.tokens) / self.rate
        self.tokens -= 1
        return 0.0


class Throttle:
    """The limits of the settings, for keys that have none of their own, and the buckets of all."""

    def __init__(self, rate: int | None = None, max_body: int | None = None) -> None:
        self.default = KeyLimits(rate, max_body)
        self.is_on = rate is not None or max_body is not None
        """Whether keys without limits of their own have some."""
        self._buckets: dict[int, Bucket] = {}

    def admit(self, key: ServedKey, now: float) -> int:
        """Let a request in that came at `now` (`perf_counter`): the most bytes that its body may
        have, or `RateExceeded`."""
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
        """A request that was let in was so many more: they are owed, and the next ones wait."""
        bucket = self._buckets.get(key.id)
        if bucket is not None:
            bucket.tokens -= more
