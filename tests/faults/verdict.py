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


@dataclass
class Verdict:
    """Counts and violations of a run."""

    counts: Counter[str] = field(default_factory=Counter)
    """What was checked."""

    found: Counter[str] = field(default_factory=Counter)
    """Violations by kind."""

    violations: list[Violation] = field(default_factory=list)
    longest_silence: float = 0.0

    def add(self, *violations: Violation) -> None:
        for violation in violations:
            self.found[violation.kind] += 1
            if self.found[violation.kind] <= _SHOWN:
                self.violations.append(violation)
