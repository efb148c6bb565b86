"""Locust as a child process: headless, in several processes, for the planned time."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtest import latencies
from loadtest.plan import RAMP_SECONDS, Plan
from loadtest.report import PAGE
from loadtest.scenarios import CHURN_SHARE, MIXED
from loadtest.settings import Settings
from loadtest.traffic import TEXTS
from testkit import ROOT, Failed
from testkit.stage import Stage

_LOCUSTFILE = ROOT / "loadtest" / "locustfile.py"
_START_SECONDS = 60
_END_SECONDS = 60


class LocustFailed(Failed):
    """Locust did not start or ended with an error; the message has its output."""


@dataclass(frozen=True)
class LocustProcess:
    """A running Locust."""

    process: subprocess.Popen[bytes]
    directory: Path
    output: Path

    def seconds(self) -> dict[int, latencies.Kinds]:
        """The latencies of each second so far."""
        return latencies.read(self.directory.glob("latencies-*.jsonl"))

    def samples(self) -> list[Path]:
        """The files with sampled answers."""
        return sorted(self.directory.glob("samples-*.jsonl"))

    def first_second(self) -> int:
        """Wait for the first answer; returns the second in which it arrived."""
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if seconds := self.seconds():
                return min(seconds)
            time.sleep(0.2)
        raise LocustFailed(f"Locust had no answer:\n{self.output.read_text()}")

    def wait(self, every_second: Callable[[dict[int, latencies.Kinds]], None]) -> None:
        """Wait until it ends; `every_second` is called with the latencies so far."""
        while self.process.poll() is None:
            time.sleep(1.0 - time.time() % 1.0)
            every_second(self.seconds())
        if self.process.returncode != 0:
            raise LocustFailed(
                f"Locust ended with status {self.process.returncode}:\n{self.output.read_text()}"
            )


@contextmanager
def locust_process(plan: Plan, staged: Stage, url: str, folder: Path) -> Iterator[LocustProcess]:
    """Locust on a service, during the block; its page goes to `folder`."""
    directory = staged.directory / "locust"
    directory.mkdir()
    output = directory / "output"
    environment = os.environ | _settings(plan, staged, directory).variables()
    command = [
        *(sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE)),
        *("--headless", "--only-summary", "--html", str(folder.absolute() / PAGE)),
        *("--loglevel", "WARNING", "--exit-code-on-error", "0"),
        *("--host", url, "--users", str(plan.users), "--spawn-rate", str(plan.users)),
        *("--run-time", f"{plan.seconds + RAMP_SECONDS + 1}s", "--stop-timeout", "5"),
        *("--processes", str(plan.processes), *_ports()),
        *plan.scenario.users,
    ]
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd=ROOT, env=environment)
    try:
        yield LocustProcess(process, directory, output)
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _settings(plan: Plan, staged: Stage, directory: Path) -> Settings:
    mixed = plan.scenario_name == MIXED
    churners = churners_of(plan) if mixed else 0
    texts = directory / "texts"
    texts.write_text("\n".join(staged.workload.texts(TEXTS)) + "\n")
    return Settings(
        token=staged.token,
        seed=plan.seed,
        bodies=staged.bodies,
        texts=texts,
        directory=directory,
        pace=plan.rate / (plan.users - churners) if plan.rate else None,
        writes=plan.writes / plan.processes if plan.writes else None,
        churners=churners,
        share=CHURN_SHARE if mixed else None,
    )


def churners_of(plan: Plan) -> int:
    """The users of `mixed` that write, the same number in each process. It is one in four, since a
    write takes much longer than a match; `Pace` keeps them to their share of the requests."""
    return max(1, plan.users // 4 // plan.processes) * plan.processes


def _ports() -> tuple[str, ...]:
    """A free port for Locust's master, so that two runs do not share one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    address = "127.0.0.1"
    return (
        *("--master-bind-host", address, "--master-bind-port", port),
        *("--master-host", address, "--master-port", port),
    )
