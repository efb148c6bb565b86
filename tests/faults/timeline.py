"""What was possible, and what was due, at a time of the run."""

from collections.abc import Sequence

from tests.faults.attributing import Attribution
from tests.faults.bounds import SETTLE_SECONDS, STALE_SECONDS
from tests.faults.history import Begin, Injected
from tests.faults.states import Moments

_STEP_SECONDS = 1.0
"""How exactly the harness knows when the clock stepped."""


class Timeline:
    """The faults of a run, and its writes, by their times."""

    def __init__(self, begin: Begin, faults: Sequence[Injected], log: Attribution) -> None:
        self._begin = begin
        self._faults = faults
        self._log = log

    def is_calm(self, begin: float, end: float, targets: tuple[str, ...] = ()) -> bool:
        """Whether no fault, or none of some targets, was near in that time."""
        return not any(
            fault.begin <= end and begin <= fault.end + SETTLE_SECONDS
            for fault in self._faults
            if not targets or fault.kind.partition(".")[0] in targets
        )

    def newest(self, end: float) -> int:
        """The newest rev that anybody can have seen by then: its writer had sent it."""
        return max(self._begin.rev, self._log.begun_by(end))

    def due(self, begin: float, end: float) -> int | None:
        """The rev that everybody must have by `begin`; None if a fault was near."""
        if not self.is_calm(begin, end):
            return None
        return self._log.acknowledged_by(begin - STALE_SECONDS)

    def moments(self, begin: float, end: float) -> Moments:
        """The wall clock of the service, which faults put off, in that time."""
        offs = {0.0}
        for fault in self._faults:
            if fault.clock and fault.begin <= end and begin <= fault.end:
                offs.add(fault.clock)
                if fault.begin + _STEP_SECONDS <= begin and end <= fault.end - _STEP_SECONDS:
                    offs.discard(0.0)
        wall = self._begin.wall
        return Moments(tuple((wall + begin + off, wall + end + off) for off in sorted(offs)))
