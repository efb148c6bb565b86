"""`make audit`: do our dependencies have known vulnerabilities?

    exit 0    every database was queried and has none
    exit 1    there are some
    exit 2    a database could not be queried: the result is UNKNOWN

These are the codes of `python -m tests.security.audit`; make turns every code but 0 into 2.

A mirror may answer without any data, so each database is first queried for a version with known
vulnerabilities, and counts only if it reports them.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLEAN, HOLES, NOT_RUN = 0, 1, 2

KNOWN_HOLE = "jinja2==2.4.1"
CRATES = (Path("index/native"), Path("bench/native"))

Run = Callable[[Sequence[str]], tuple[str, str]]


@dataclass(frozen=True)
class Audit:
    """The result of one tool; `not_run` says why it could not run."""

    name: str
    holes: tuple[str, ...] = ()
    not_run: str | None = None

    def __str__(self) -> str:
        if self.not_run is not None:
            return f"{self.name}: NOT RUN: {self.not_run}"
        found = "".join(f"\n  {hole}" for hole in self.holes)
        return f"{self.name}: {len(self.holes)} known holes{found}"


def run(command: Sequence[str]) -> tuple[str, str]:
    """The stdout and stderr of a command."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def python_packages(run: Run = run) -> Audit:
    """The packages installed in this environment."""
    name = "Python packages"
    audit = [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as known:
        known.write(f"{KNOWN_HOLE}\n")
        known.flush()
        asked = run([*audit, "--no-deps", "--disable-pip", f"--requirement={known.name}"])
    proof = _read(asked)
    if isinstance(proof, str):
        return Audit(name, not_run=proof)
    if not _python_holes(proof):
        return Audit(name, not_run=f"the database knows nothing of {KNOWN_HOLE}, which has holes")
    found = _read(run([*audit, "--skip-editable", "--local"]))
    return (
        Audit(name, not_run=found) if isinstance(found, str) else Audit(name, _python_holes(found))
    )


def crates(directory: Path, run: Run = run) -> Audit:
    """The dependencies of one of our crates."""
    name = f"crates of {directory}"
    if shutil.which("cargo-audit") is None:
        return Audit(name, not_run="cargo-audit is not installed: cargo install cargo-audit")
    lock = directory / "Cargo.lock"
    if not lock.exists():
        return Audit(name, not_run=f"there is no {lock} yet: make setup")
    found = _read(run(["cargo", "audit", "--json", "--file", str(lock)]))
    if isinstance(found, str):
        return Audit(name, not_run=found)
    if not found.get("database", {}).get("advisory-count"):
        return Audit(name, not_run="the database is empty")
    return Audit(
        name,
        tuple(
            f"{each['package']['name']} {each['package']['version']}: {each['advisory']['id']}"
            for each in found["vulnerabilities"]["list"]
        ),
    )


def exit_code(audits: Sequence[Audit]) -> int:
    """Vulnerabilities first, then what could not be checked."""
    if any(audit.holes for audit in audits):
        return HOLES
    return NOT_RUN if any(audit.not_run is not None for audit in audits) else CLEAN


def _read(printed: tuple[str, str]) -> Any:
    """The printed JSON, or a string that says why there is none."""
    out, complaints = printed
    try:
        return json.loads(out)
    except json.JSONDecodeError:
        lines = complaints.strip().splitlines()
        return lines[-1].strip()[:300] if lines else "it printed nothing"


def _python_holes(report: Any) -> tuple[str, ...]:
    return tuple(
        f"{package['name']} {package['version']}: {hole['id']}"
        for package in report["dependencies"]
        for hole in package.get("vulns", ())
    )


def main() -> int:
    """Run the audit and print the result."""
    audits = [python_packages(), *map(crates, CRATES)]
    for audit in audits:
        sys.stdout.write(f"{audit}\n")
    return exit_code(audits)


if __name__ == "__main__":
    sys.exit(main())
