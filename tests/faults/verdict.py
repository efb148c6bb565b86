"""The verdict on a run: what was checked, and the violations."""

from collections import Counter
from dataclasses import dataclass, field

_SHOWN = 50
"""Violations shown per kind; all are counted."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise: its kind, the time in the run (seconds), and the details."""

    kind: str
    at: float
    detail: str

    def __str__(self) -> str:
        return f"{self.at:8.2f} s  {self.kind}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Pause:
    """The longest time without an answer, in seconds; the part of one in which the host was
    healthy, and when that began."""

    longest: float
    healthy: float
    at: float


@dataclass
class Verdict:
    """Counts and violations of a run."""

    counts: Counter[str] = field(default_factory=Counter)
    """What was checked."""

    found: Counter[str] = field(default_factory=Counter)
    """Violations by kind."""

    violations: list[Violation] = field(default_factory=list)
    pauses: dict[str, Pause] = field(default_factory=dict)
    """By what was not answered: `match of host 0`, `write of host 1`."""

    def add(self, *violations: Violation) -> None:
        for violation in violations:
            self.found[violation.kind] += 1
            if self.found[violation.kind] <= _SHOWN:
                self.violations.append(violation)
