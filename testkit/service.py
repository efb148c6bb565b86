"""Servers under measurement: `copse serve` and a no-op, as child processes."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path
from typing import Any

from testkit import ROOT, Failed
from testkit.client import Client
from testkit.processes import Use, use_of

_LOAD_SECONDS = 900
_END_SECONDS = 30
_SERVE = "import sys; from app.cli import main; sys.exit(main())"


class NotServing(Failed):
    """A server did not start, does not answer, or gave a wrong answer."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    name: str
    url: str
    pid: int

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def use(self) -> Use:
        """CPU and memory of its process."""
        used = use_of(self.pid)
        if used is None:
            raise NotServing(f"{self.name} has ended")
        return used

    def metrics(self) -> dict[str, float]:
        """Its metrics by name, without those that have labels other than `worker`."""
        found: dict[str, float] = {}
        for line in self.get("/metrics").decode().splitlines():
            if match := re.fullmatch(r'(copse_\w+)(?:\{worker="[^"]*"\})? (\S+)', line):
                found[match[1]] = float(match[2])
        return found

    def get(self, path: str, token: str = "") -> bytes:
        """The body of the answer to a GET."""
        with Client(self.port, token) as client:
            answer = client.send("GET", path)
        if answer.status != 200:
            raise NotServing(f"{self.name}: GET {path}: {answer.status} {answer.body.decode()}")
        return answer.body

    def workers(self, token: str) -> list[dict[str, Any]]:
        """The state of each worker, as `/v1/index` has it."""
        with Client(self.port, token) as client:
            found: list[dict[str, Any]] = client.send("GET", "/v1/index").content["workers"]
        return found

    def post(self, bodies: list[bytes], token: str) -> list[bytes]:
        """The answers of `/v1/match` to these bodies, one after the other."""
        answers = []
        with Client(self.port, token) as client:
            for body in bodies:
                answer = client.send("POST", "/v1/match", body)
                if answer.status != 200:
                    text = answer.body.decode()
                    raise NotServing(f"{self.name}: POST /v1/match: {answer.status} {text}")
                answers.append(answer.body)
        return answers


@contextmanager
def service(name: str, database: str, campaigns: int, **settings: object) -> Iterator[Server]:
    """`copse serve` with one worker, ready and with all campaigns; `settings` as in
    `app.settings`."""
    given = {"database_url": database, "workers": 1, **settings}
    variables = {f"COPSE_{field.upper()}": str(value) for field, value in given.items()}
    with started(name, ["-c", _SERVE, "serve", "--port", "0"], variables) as server:
        deadline = time.monotonic() + _LOAD_SECONDS
        while not _is_loaded(server, campaigns):
            if time.monotonic() > deadline:
                raise NotServing(f"{name}: the index is not loaded")
            time.sleep(0.05)
        yield server


@contextmanager
def noop(answer: Path) -> Iterator[Server]:
    """The no-op server, which answers with the content of a file."""
    with started("noop", ["-m", "testkit.noop", str(answer)]) as server:
        yield server


def _is_loaded(server: Server, campaigns: int) -> bool:
    try:
        server.get("/healthz/ready")
    except NotServing:
        return False
    return server.metrics().get("copse_index_campaigns") == campaigns


@contextmanager
def started(
    name: str, arguments: list[str], variables: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A Python process whose first line of output has its address; it ends with the block."""
    inherited = {n: v for n, v in environ.items() if not n.startswith("COPSE_")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=inherited | dict(variables or {}),
    )
    assert process.stdout is not None
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        if found is None:
            raise NotServing(f"{name}: did not start")
        yield Server(name, found[0], process.pid)
    finally:
        _end(process)


def _end(process: "subprocess.Popen[Any]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
