"""Which revs were possible, and which were required, at a time of the run."""

from collections.abc import Sequence

from tests.faults.attribution import Attribution
from tests.faults.bounds import SETTLE_SECONDS, STALE_SECONDS
from tests.faults.history import Begin, Injected
from tests.faults.states import Moments

_STEP_SECONDS = 1.0
"""Uncertainty about the time of a clock step."""


class Timeline:
    """The faults and writes of a run, by time."""

    def __init__(self, begin: Begin, faults: Sequence[Injected], log: Attribution) -> None:
        self._begin = begin
        self._faults = faults
        self._log = log

    def is_calm(self, begin: float, end: float) -> bool:
        """Whether no fault was in effect or recent."""
        return not any(
            fault.begin <= end and begin <= fault.end + SETTLE_SECONDS for fault in self._faults
        )

    def newest(self, end: float) -> int:
        """The newest rev that could have been visible at `end`: its write had been sent."""
        return max(self._begin.rev, self._log.begun_by(end))

    def due(self, begin: float, end: float) -> int | None:
        """The rev that every worker must have at `begin`; None if a fault was recent."""
        if not self.is_calm(begin, end):
            return None
        return self._log.acknowledged_by(begin - STALE_SECONDS)

    def moments(self, begin: float, end: float) -> Moments:
        """The service's wall clock in that interval, with the offsets from clock faults."""
        offs = {0.0}
        for fault in self._faults:
            if fault.clock and fault.begin <= end and begin <= fault.end:
                offs.add(fault.clock)
                if fault.begin + _STEP_SECONDS <= begin and end <= fault.end - _STEP_SECONDS:
                    offs.discard(0.0)
        wall = self._begin.wall
        return Moments(tuple((wall + begin + off, wall + end + off) for off in sorted(offs)))
