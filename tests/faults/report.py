"""The report of a run: a JSON object and a Markdown page."""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.faults.history import History, Injected, Look
from tests.faults.schedule import KINDS, Fault
from tests.faults.verdict import Verdict


@dataclass(frozen=True)
class Report:
    """A run and its verdict."""

    seed: int
    minutes: float
    faults: Sequence[Fault]
    injected: dict[str, int]
    causes: dict[str, int]
    """Resyncs and loads of the workers, by reason."""

    verdict: Verdict

    @classmethod
    def of(
        cls,
        seed: int,
        minutes: float,
        faults: Sequence[Fault],
        history: History,
        verdict: Verdict,
    ) -> "Report":
        """Count the records of a history."""
        done = Counter(each.kind for each in history.records if isinstance(each, Injected))
        return cls(seed, minutes, faults, dict(sorted(done.items())), _causes(history), verdict)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        verdict = self.verdict
        return {
            "seed": self.seed,
            "minutes": self.minutes,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
            "faults": sum(self.injected.values()),
            "faults_by_kind": self.injected,
            "counts": dict(sorted(verdict.counts.items())),
            "left_the_stream": self.causes,
            "longest_without_s": {
                what: {
                    "at_all": round(pause.longest, 2),
                    "while_healthy": round(pause.healthy, 2),
                }
                for what, pause in verdict.pauses.items()
            },
            "violations": sum(verdict.found.values()),
            "violations_by_kind": dict(verdict.found),
            "shown": [asdict(each) for each in verdict.violations],
        }

    def _pauses(self) -> list[tuple[str, str]]:
        return [
            (f"longest time without a {what}", f"{each.longest:.2f} s ({each.healthy:.2f} healthy)")
            for what, each in self.verdict.pauses.items()
        ]

    def summary(self) -> str:
        """The counts, one per line."""
        figures = self.to_dict()
        lines = [f"{'faults injected':>50}  {figures['faults']:,}"]
        lines += [f"{what:>50}  {count:,}" for what, count in figures["counts"].items()]
        lines += [f"{what:>50}  {seconds}" for what, seconds in self._pauses()]
        lines.append(f"{'violations':>50}  {figures['violations']:,}")
        return "\n".join([*lines, *map(str, self.verdict.violations)])

    def page(self) -> str:
        """The report in Markdown."""
        figures = self.to_dict()
        meanings = {kind.name: kind.meaning for kind in KINDS}
        kinds = [f"| `{k}` | {n} | {meanings[k]} |" for k, n in self.injected.items()]
        counts = [f"| {what} | {count:,} |" for what, count in figures["counts"].items()]
        counts += [f"| {what} | {seconds} |" for what, seconds in self._pauses()]
        causes = [f"| {what} | {count} |" for what, count in self.causes.items()]
        found = [f"- `{each}`" for each in self.verdict.violations] or ["None."]
        return "\n".join(
            [
                f"# Faults: seed {self.seed}, {self.minutes:g} minutes, "
                f"{figures['violations']} violations",
                "",
                f"{figures['at']}, {figures['machine']}. "
                f"`make faults SEED={self.seed} MINUTES={self.minutes:g}` is the same schedule "
                "again; docs/faults.md says what is checked.",
                "",
                "## Violations",
                "",
                *found,
                "",
                f"## {figures['faults']} faults",
                "",
                "| kind | times | |",
                "|---|---:|---|",
                *kinds,
                "",
                "## What was checked",
                "",
                "| | |",
                "|---|---:|",
                *counts,
                "",
                "## Why indexes left the stream",
                "",
                "| | times |",
                "|---|---:|",
                *causes,
                "",
                "## The schedule",
                "",
                "```",
                *map(str, self.faults),
                "```",
                "",
            ]
        )

    def write(self, directory: Path) -> None:
        """Write `report.json` and `report.md`."""
        (directory / "report.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n")
        (directory / "report.md").write_text(self.page())


def _causes(history: History) -> dict[str, int]:
    """Sum of the last counts seen of each worker process."""
    last: dict[int, dict[str, Any]] = {}
    for look in history.records:
        if isinstance(look, Look):
            last |= {worker["pid"]: worker for worker in look.workers}
    causes: Counter[str] = Counter()
    for worker in last.values():
        for what in ("resyncs", "snapshots"):
            for reason, count in worker[what].items():
                causes[f"{what}: {reason}"] += count
    return dict(sorted(causes.items()))
