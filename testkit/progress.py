"""Progress of a long run, on stderr."""

import sys
import time

_WIDTH = 30


class Progress:
    """A bar that is redrawn on a terminal, or a line every ten seconds elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._last = 0.0

    def show(self, what: str, done: int, total: int) -> None:
        """Draw, unless the last time was just now."""
        now = time.monotonic()
        if self._quiet or (now - self._last < (0.1 if self._terminal else 10) and done < total):
            return
        self._last = now
        share = done / total if total else 1.0
        if self._terminal:
            filled = int(_WIDTH * share)
            bar = "█" * filled + "·" * (_WIDTH - filled)
            print(f"\r\x1b[K{bar} {share:4.0%} {what}", end="", file=sys.stderr, flush=True)
        else:
            print(f"{share:4.0%} {what}", file=sys.stderr, flush=True)

    def done(self) -> None:
        """Clear the bar."""
        if self._terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
