"""Match requests that wait for their turn, and which of them are refused.

    arrived ──▶ │ oldest … newest │ ──▶ answered, for 2 ms in each turn of the event loop
                └──▶ refused with 503, if there is an overload and they are too old

In the rest of a turn the loop accepts connections, reads, and does everything else. So no request
waits unseen in the kernel, and health checks and the admin API have their share whatever the load
is: only matches queue here.

A burst is answered oldest first, and nobody is refused. It is an overload once the oldest request
was older than `limit` at the start of every turn for `INTERVAL`: then there is more work than
time, and to answer the oldest first would make everybody late. Instead the newest is answered
first, and what is older than half of `limit` is refused, until the queue is empty: newer ones have
overtaken it, and would go on to. (The measure is CoDel's, the order that of Facebook's "adaptive
LIFO": ACM Queue 13(8), "Fail at Scale".)
"""

import asyncio
from collections import deque
from math import inf
from time import perf_counter
from typing import Protocol

SLICE = 0.002
"""Seconds of each turn of the event loop in which requests are answered."""

INTERVAL = 0.1
"""Seconds for which the queue must be too old to be an overload."""

LIMIT_SHARE = 0.1
"""The limit of an overload, as a share of the longest wait."""


class Waiting(Protocol):
    """A request in the queue."""

    def answer(self) -> bool:
        """Answer it; True if that was only started, so that a task answers it in the next turn."""

    def shed(self, waited: float) -> None:
        """Refuse it after `waited` seconds."""


class MatchQueue:
    """The match requests of one worker."""

    def __init__(self, longest_wait: float) -> None:
        self.limit = longest_wait * LIMIT_SHARE
        self.is_overloaded = False
        self._waiting: deque[tuple[float, Waiting]] = deque()
        """The oldest first, with when it arrived."""

        self._scheduled = False
        self._old_since = inf
        """Since when the oldest request has been older than the limit at each look."""

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, arrived_at: float, request: Waiting) -> None:
        """Let a request wait for its turn; `arrived_at` is its `perf_counter`."""
        self._waiting.append((arrived_at, request))
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        waiting = self._waiting
        now = perf_counter()
        try:
            if self.is_overloaded or waiting[0][0] < now - self.limit:
                self._judge(now)
            else:
                self._old_since = inf
            take = waiting.pop if self.is_overloaded else waiting.popleft
            while waiting:
                if take()[1].answer() or (waiting and perf_counter() > now + SLICE):
                    break
        finally:
            if waiting:
                asyncio.get_running_loop().call_soon(self._turn)
            else:
                self._scheduled = self.is_overloaded = False
                self._old_since = inf

    def _judge(self, now: float) -> None:
        """The oldest request is too old: is it an overload? Then refuse the old ones."""
        self._old_since = min(self._old_since, now)
        self.is_overloaded = self.is_overloaded or now - self._old_since > INTERVAL
        waiting = self._waiting
        while self.is_overloaded and waiting and waiting[0][0] < now - self.limit / 2:
            arrived_at, request = waiting.popleft()
            request.shed(now - arrived_at)
