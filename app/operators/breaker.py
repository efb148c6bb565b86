"""A circuit breaker: a service that keeps failing is left alone for a while.

closed ── 5 failures in a row ──▶ open ── 1 s, then twice as long ──▶ one attempt ──▶ closed
                                    ▲────────────── it fails ─────────────┘
"""

from time import monotonic

FAILURES = 5
FIRST_SECONDS = 1.0
LONGEST_SECONDS = 30.0


class Breaker:
    """Whether an operator may be called now."""

    def __init__(self) -> None:
        self._failures = 0
        self._pause = FIRST_SECONDS
        self._until = 0.0

    def allows(self) -> bool:
        """Whether a call may be made; of an open circuit, one."""
        if self._failures < FAILURES:
            return True
        now = monotonic()
        if now < self._until:
            return False
        self._until = now + self._pause  # this one attempt
        return True

    def succeeded(self) -> None:
        self._failures, self._pause = 0, FIRST_SECONDS

    def failed(self) -> None:
        self._failures += 1
        if self._failures >= FAILURES:
            self._until = monotonic() + self._pause
            self._pause = min(2 * self._pause, LONGEST_SECONDS)
