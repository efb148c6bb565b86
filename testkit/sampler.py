"""A thread that takes a reading at regular intervals."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from testkit.service import NotServing

T = TypeVar("T")


class Sampler(threading.Thread, Generic[T]):
    """Calls `read` every `every` seconds of the wall clock until stopped."""

    def __init__(self, read: Callable[[], T], every: float = 1.0) -> None:
        super().__init__(name="sampler", daemon=True)
        self.samples: list[T] = []
        self.missed = 0
        """Readings that failed because the server did not answer."""

        self._read = read
        self._every = every
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Take no more readings; `join` waits for the current one."""
        self._stopped.set()

    def run(self) -> None:
        while not self._stopped.wait(self._every - time.time() % self._every):
            try:
                self.samples.append(self._read())
            except (NotServing, OSError):
                self.missed += 1
