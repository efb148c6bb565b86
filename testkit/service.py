"""The processes that are measured: what they answer at, what they use, and what they count."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit import ROOT

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LOAD_SECONDS = 900
_END_SECONDS = 30
_SERVE = "import sys; from app.cli import main; sys.exit(main())"


class NotServing(RuntimeError):
    """A server did not start, does not answer, or answers something else than it should."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    name: str
    url: str
    pid: int

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def cpu(self) -> float:
        """The seconds of CPU that it has used, user and system, all threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def turns(self) -> tuple[int, int]:
        """Nanoseconds in which its first thread had a CPU, and in which it waited for one."""
        fields = Path(f"/proc/{self.pid}/schedstat").read_text().split()
        return int(fields[0]), int(fields[1])

    def memory(self) -> int:
        """Its resident bytes."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE

    def metrics(self) -> dict[str, float]:
        """What it counts, by name; those with labels other than the worker's are left out."""
        found: dict[str, float] = {}
        for line in self.get("/metrics").decode().splitlines():
            if match := re.fullmatch(r'(copse_\w+)(?:\{worker="[^"]*"\})? (\S+)', line):
                found[match[1]] = float(match[2])
        return found

    def get(self, path: str, token: str = "") -> bytes:
        """What it answers to a GET; some need no key."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise NotServing(f"{self.name}: GET {path}: {answer.status} {body.decode()}")
        return body

    def campaigns(self, token: str) -> list[int]:
        """How many campaigns each of its workers has."""
        workers = json.loads(self.get("/v1/index", token))["workers"]
        return [worker["campaigns"] for worker in workers]

    def ask(self, path: str, body: bytes, token: str) -> tuple[int, bytes]:
        """The status and the body of its answer to a POST."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        try:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def post(self, bodies: list[bytes], token: str) -> list[bytes]:
        """What it answers to bodies at `/v1/match`, one after the other."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        answers = []
        try:
            for body in bodies:
                connection.request("POST", "/v1/match", body, headers)
                answer = connection.getresponse()
                answers.append(answer.read())
                if answer.status != 200:
                    told = answers[-1].decode()
                    raise NotServing(f"{self.name}: POST /v1/match: {answer.status} {told}")
        finally:
            connection.close()
        return answers


@contextmanager
def service(name: str, database: str, campaigns: int, **settings: object) -> Iterator[Server]:
    """`copse serve`, one worker, once it has all campaigns; `settings` as in `app.settings`."""
    given = {"database_url": database, "workers": 1, **settings}
    variables = {f"COPSE_{field.upper()}": str(value) for field, value in given.items()}
    with _started(name, ["-c", _SERVE, "serve", "--port", "0"], variables) as server:
        deadline = time.monotonic() + _LOAD_SECONDS
        while not _is_loaded(server, campaigns):
            if time.monotonic() > deadline:
                raise NotServing(f"{name}: the index is not loaded")
            time.sleep(0.2)
        yield server


@contextmanager
def noop(answer: Path) -> Iterator[Server]:
    """The no-op that answers with a file."""
    with _started("noop", ["-m", "testkit.noop", str(answer)], {}) as server:
        yield server


@contextmanager
def matching_noop(answer: Path, database: str, bodies: Path) -> Iterator[Server]:
    """The same, after a match of the campaigns of a database."""
    arguments = ["-m", "bench.service.matching_noop", str(answer), database, str(bodies)]
    with _started("noop that matches", arguments, {}) as server:
        yield server


def _is_loaded(server: Server, campaigns: int) -> bool:
    try:
        ready = json.loads(server.get("/healthz/ready"))
    except NotServing:
        return False
    return bool(ready) and server.metrics().get("copse_index_campaigns") == campaigns


@contextmanager
def _started(name: str, arguments: list[str], variables: Mapping[str, str]) -> Iterator[Server]:
    environment = {n: v for n, v in os.environ.items() if not n.startswith("COPSE_")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment | dict(variables),
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
