"""Locust: headless, in several processes, until the time is over."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtest import ledger
from loadtest.ground import Ground
from loadtest.instructions import Instructions
from loadtest.plan import RAMP_SECONDS, Plan
from loadtest.scenarios import CHURN_SHARE, MIXED
from testkit import ROOT

_LOCUSTFILE = ROOT / "loadtest" / "locustfile.py"
_START_SECONDS = 60
_END_SECONDS = 60


class LocustFailed(RuntimeError):
    """Locust did not start, or broke off; the message has what it said."""


@dataclass(frozen=True)
class Driving:
    """A running Locust."""

    process: subprocess.Popen[bytes]
    directory: Path
    said: Path

    def seconds(self) -> dict[int, ledger.Kinds]:
        """What each second brought so far."""
        return ledger.read(self.directory.glob("ledger-*.jsonl"))

    def samples(self) -> list[Path]:
        """Where the answers are that were kept."""
        return sorted(self.directory.glob("samples-*.jsonl"))

    def begun(self) -> int:
        """Wait for the first answer; the second in which it came."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if seconds := self.seconds():
                return min(seconds)
            time.sleep(0.2)
        raise LocustFailed(f"Locust had no answer:\n{self.said.read_text()}")

    def wait(self, every_second: Callable[[dict[int, ledger.Kinds]], None]) -> None:
        """Until it ends; `every_second` is told what there is so far."""
        while self.process.poll() is None:
            time.sleep(1.0 - time.time() % 1.0)
            every_second(self.seconds())
        if self.process.returncode != 0:
            raise LocustFailed(
                f"Locust ended with status {self.process.returncode}:\n{self.said.read_text()}"
            )


@contextmanager
def driving(plan: Plan, on: Ground, url: str) -> Iterator[Driving]:
    """Locust on a service; it is gone after the block."""
    directory = on.directory / "locust"
    directory.mkdir()
    said = directory / "said"
    environment = os.environ | _instructions(plan, on, directory).variables()
    command = [
        *(sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE)),
        *("--headless", "--only-summary", "--loglevel", "WARNING", "--exit-code-on-error", "0"),
        *("--host", url, "--users", str(plan.users), "--spawn-rate", str(plan.users)),
        *("--run-time", f"{plan.seconds + RAMP_SECONDS + 1}s", "--stop-timeout", "5"),
        *("--processes", str(plan.processes), *_ports()),
        *plan.scenario.users,
    ]
    with said.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT, env=environment)
    try:
        yield Driving(process, directory, said)
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _instructions(plan: Plan, on: Ground, directory: Path) -> Instructions:
    mixed = plan.scenario_name == MIXED
    churners = churners_of(plan) if mixed else 0
    return Instructions(
        token=on.token,
        seed=plan.seed,
        bodies=on.bodies,
        texts=on.texts,
        directory=directory,
        pace=plan.rate / (plan.users - churners) if plan.rate else None,
        writes=plan.writes / plan.processes if plan.writes else None,
        churners=churners,
        share=CHURN_SHARE if mixed else None,
    )


def churners_of(plan: Plan) -> int:
    """How many users of `mixed` write, the same number in each process: one in four, since a write
    takes much longer than a match; they keep to their share of the requests by themselves."""
    return max(1, plan.users // 4 // plan.processes) * plan.processes


def _ports() -> tuple[str, ...]:
    """Where the processes of Locust meet; two runs at once must not meet each other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    address = "127.0.0.1"
    return (
        *("--master-bind-host", address, "--master-bind-port", port),
        *("--master-host", address, "--master-port", port),
    )
