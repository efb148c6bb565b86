"""How far a job is: a line on stderr for each step, with the seconds since it began."""

import sys
import time


class Progress:
    """Tells of steps."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.monotonic() - self._began

    def step(self, words: str) -> None:
        """Something begins."""
        if not self._quiet:
            sys.stderr.write(f"{self.seconds:7.1f} s  {words}\n")
            sys.stderr.flush()
