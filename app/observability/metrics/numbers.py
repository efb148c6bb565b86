"""The value of one metric with its labels, as cheap to change as a plain number.

Each value has one writer, the thread of the event loop: `+=` is not atomic between threads. What
another thread counts is copied when the registry is dumped (`Registry.before_dump`).
"""

from bisect import bisect_left


class Counter:
    """Only grows: `counter.value += 1`, or `add`."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        """Add to the count."""
        self.value += amount

    def copy(self, total: float) -> None:
        """Take over a count that is kept elsewhere since the same start; it never falls."""
        self.value = max(self.value, total)


class Gauge:
    """Any number: `gauge.value = 5`."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0


class Histogram:
    """The number of observations in each bucket, and their sum.

    bounds   0.1   0.25   0.5
    counts  a │ b   │ c   │ d       a: up to 0.1, both ends included; d: above 0.5
    """

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum: float = 0

    def observe(self, value: float) -> None:
        """Count an observation."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value
