"""The progress of a job: a line on stderr for each step, with the seconds since the start."""

import sys
import time


class Progress:
    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def step(self, words: str) -> None:
        """Print the step that begins now."""
        print(f"{self.seconds:7.1f} s  {words}", file=sys.stderr, flush=True)  # noqa: T201
