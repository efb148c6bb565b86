"""`make audit`: are there known holes in what we depend on?

    exit 0    every database was asked, and knows of none
    exit 1    there are some
    exit 2    a database could not be asked: what it would say is NOT known

These are the codes of `python -m tests.security.audit`; make turns every one but 0 into its own 2.

A mirror may answer and know nothing of holes; so each database is first asked about a version that
is known to have some, and counts as asked only if it says so.
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
    """What one of them found; `not_run` says why it found nothing out."""

    name: str
    holes: tuple[str, ...] = ()
    not_run: str | None = None

    def __str__(self) -> str:
        if self.not_run is not None:
            return f"{self.name}: NOT RUN: {self.not_run}"
        found = "".join(f"\n  {hole}" for hole in self.holes)
        return f"{self.name}: {len(self.holes)} known holes{found}"


def run(command: Sequence[str]) -> tuple[str, str]:
    """What a command prints, and what it complains of."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def python_packages(run: Run = run) -> Audit:
    """What is installed in this environment."""
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
    """What a crate of ours is built from."""
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
    """Holes first; then what was not looked for."""
    if any(audit.holes for audit in audits):
        return HOLES
    return NOT_RUN if any(audit.not_run is not None for audit in audits) else CLEAN


def _read(printed: tuple[str, str]) -> Any:
    """The JSON that was printed; a string: why there is none."""
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
    """Look, and say so."""
    audits = [python_packages(), *map(crates, CRATES)]
    for audit in audits:
        sys.stdout.write(f"{audit}\n")
    return exit_code(audits)


if __name__ == "__main__":
    sys.exit(main())
