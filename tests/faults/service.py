"""`copse serve` with two workers, on a host; it can be killed, drained and started again."""

import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from testkit.client import Client, Lost
from testkit.hosts import Host
from testkit.servers import ServerFailed
from tests.faults import processes
from tests.faults.schedule import WORKERS

PORT = 8080
COPSE = (sys.executable, "-c", "import sys; from app.cli import main; sys.exit(main())")
_START_SECONDS = 240
_END_SECONDS = 30


class Service:
    """A service on a host; without one it is on the host of the harness."""

    def __init__(
        self, number: int, on: Host | None, tree: Path, log: Path, variables: dict[str, str]
    ) -> None:
        self.number = number
        self.on = on
        self.log = log
        self._tree = tree
        inherited = {name: v for name, v in os.environ.items() if not name.startswith("COPSE_")}
        self._environment = inherited | {"PYTHONPATH": str(tree)} | variables
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def entered(self) -> AbstractContextManager[None]:
        """In the block, this thread is on the host of the service."""
        return self.on.entered() if self.on else nullcontext()

    def workers(self) -> dict[int, int]:
        """The process ids of the live workers, by number."""
        return processes.workers_of(self.pid)

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        with self.entered(), self.log.open("a") as output:
            self._process = subprocess.Popen(
                [*COPSE, "serve", "--port", str(PORT)],
                stdout=output,
                stderr=output,
                cwd=self._tree,
                env=self._environment,
            )
            end = time.monotonic() + _START_SECONDS
            while not _is_ready():
                if self._process.poll() is not None or time.monotonic() > end:
                    raise ServerFailed(f"the service did not start:\n{self.log.read_text()}")
                time.sleep(0.1)

    def wait_until_whole(self, token: str, without: int | None = None) -> None:
        """Wait until all its workers answer, and process `without` is none of them; `ServerFailed`
        if a lost one is not replaced."""
        end = time.monotonic() + _START_SECONDS
        with self.entered(), Client(PORT, token, timeout=10.0) as client:
            while not _is_whole(client, without):
                if time.monotonic() > end:
                    raise ServerFailed(f"a worker was not replaced:\n{self.log.read_text()[-500:]}")
                time.sleep(0.2)

    def kill(self) -> None:
        """Kill the service and its workers."""
        if self._process is not None:
            workers = self.workers()
            self._process.kill()
            for pid in workers.values():
                processes.send(pid, signal.SIGKILL)
            self._process.wait()

    def drain(self) -> None:
        """Send SIGTERM; raises `ServerFailed` if the service does not stop cleanly."""
        assert self._process is not None
        self._process.terminate()
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise ServerFailed(f"the service did not end:\n{self.log.read_text()}") from None
        if status != 0:
            raise ServerFailed(f"the service ended with {status}:\n{self.log.read_text()}")


def _is_ready() -> bool:
    with Client(PORT, timeout=5.0) as client:
        try:
            return client.send("GET", "/healthz/ready").status == 200
        except Lost:
            return False


def _is_whole(client: Client, without: int | None) -> bool:
    try:
        answer = client.send("GET", "/v1/index")
    except Lost:
        return False
    client.close()  # its worker may be the one that ends
    if answer.status != 200:
        return False
    workers = [each for each in answer.content["workers"] if each["rev"] is not None]
    return len(workers) == WORKERS and without not in [each["pid"] for each in workers]
