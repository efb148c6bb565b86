"""What was checked, and what was found that must not be."""

from collections import Counter
from dataclasses import dataclass, field

_SHOWN = 50
"""So many violations of a kind are told; all are counted."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken: which, when in the run (seconds), and how."""

    kind: str
    at: float
    detail: str

    def __str__(self) -> str:
        return f"{self.at:8.2f} s  {self.kind}: {self.detail}"


@dataclass
class Verdict:
    """On a run."""

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
