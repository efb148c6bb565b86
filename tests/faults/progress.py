"""Progress on stderr: a line every ten seconds and one per fault."""

import sys
from collections import Counter
from collections.abc import Sequence

from tests.faults.history import History, Match, Write
from tests.faults.schedule import Fault

_EVERY = 10.0


class Progress:
    """Prints progress; called about every second."""

    def __init__(self, seconds: float, faults: int) -> None:
        self._seconds = seconds
        self._faults = faults
        self._told = 0
        self._next = _EVERY

    def __call__(self, elapsed: float, history: History, begun: Sequence[Fault]) -> None:
        for fault in begun[self._told :]:
            sys.stderr.write(f"{fault}\n")
        self._told = len(begun)
        if elapsed >= self._next:
            self._next += _EVERY
            counts: Counter[str] = Counter()
            for each in list(history.records):
                if isinstance(each, Write | Match):
                    counts[f"{type(each).__name__} {each.outcome}"] += 1
            message = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
            share = f"{elapsed:.0f} of {self._seconds:.0f} s, {len(begun)} of {self._faults} faults"
            sys.stderr.write(f"-- {share}: {message}\n")
        sys.stderr.flush()
