"""Memory and lag of a server, every second."""

import statistics
import threading
import time
from dataclasses import dataclass

from testkit.service import NotServing, Server

WARM_UP = 0.25
"""The share of the time in which memory may still grow."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look: seconds since the start, bytes, and what the server says of its lag."""

    at: float
    memory: int
    lag_seconds: float
    lag_revs: float


class Watch(threading.Thread):
    """Looks until it is stopped."""

    def __init__(self, server: Server, every: float = 1.0) -> None:
        super().__init__(name="watch", daemon=True)
        self.samples: list[Sample] = []
        self.unheard = 0
        """How often the server did not say how it is."""

        self._server = server
        self._every = every
        self._stopped = threading.Event()

    def stop(self) -> None:
        """No further look; join it then."""
        self._stopped.set()

    def run(self) -> None:
        start = time.monotonic()
        while not self._stopped.wait(self._every):
            try:
                numbers = self._server.metrics()
            except (NotServing, OSError):
                self.unheard += 1
                continue
            lag = numbers["copse_feed_lag_seconds"], numbers["copse_feed_lag_revs"]
            self.samples.append(Sample(time.monotonic() - start, self._server.memory(), *lag))


def slope(samples: list[Sample]) -> float:
    """Bytes a minute that memory grew by after the warm-up, by least squares."""
    settled = after_warm_up(samples)
    if len(settled) < 2:
        return 0.0
    times, sizes = [each.at for each in settled], [float(each.memory) for each in settled]
    return 60 * statistics.linear_regression(times, sizes).slope


def after_warm_up(samples: list[Sample]) -> list[Sample]:
    """Those that count."""
    return samples[int(WARM_UP * len(samples)) :]
