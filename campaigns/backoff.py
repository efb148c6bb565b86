"""How long to wait before another attempt: longer after each failure, and never the same time for
two processes that failed together."""

import random
from dataclasses import dataclass

# Without a state of its own: forked workers must not draw the same numbers, and a caller that has
# seeded `random` gets the numbers that it expects.
_CHANCE = random.SystemRandom()


def jitter(spread: float = 0.5) -> float:
    """A random factor around 1."""
    return _CHANCE.uniform(1 - spread, 1 + spread)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays in seconds that double from `first` up to `last`."""

    first: float
    last: float

    def delay(self, failures: int, factor: float | None = None) -> float:
        """The delay after a failure that `failures` others preceded; `factor` replaces the random
        jitter."""
        delay = min(self.last, self.first * 2.0 ** min(failures, 30))
        return delay * (jitter() if factor is None else factor)
