"""The processes of a run: Postgres and Redis behind proxies, and `copse serve` with two workers."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from migrations.run import upgrade
from testkit.servers import PostgresServer, RedisServer, ServerFailed, postgres_server, redis_server
from tests.faults import processes
from tests.faults.bounds import LONGEST_WAIT_MS
from tests.faults.clock import Clock
from tests.faults.disk import Disk, small_disk
from tests.faults.proxy import Network, Proxy
from tests.faults.schedule import WORKERS

ROOT = Path(__file__).parents[2]
_SERVE = "import sys; from app.cli import main; sys.exit(main())"
_END_SECONDS = 30

SETTINGS = {
    "COPSE_WORKERS": str(WORKERS),
    "COPSE_LOG_LEVEL": "info",
    "COPSE_LONGEST_WAIT_MS": str(LONGEST_WAIT_MS),
    # Short intervals, so that a run exercises what otherwise happens every ten minutes.
    "COPSE_INDEX_SAVE_MINUTES": "0.1",
    "COPSE_PRUNE_MINUTES": "0.05",
    "COPSE_KEEP_CHANGES": "30",
}


@dataclass(frozen=True)
class Stage:
    """The running processes that faults affect."""

    postgres: PostgresServer
    postgres_proxy: Proxy
    redis: RedisServer
    redis_proxy: Proxy
    disk: Disk
    clock: Clock
    service: "subprocess.Popen[str]"
    url: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def workers(self) -> dict[int, int]:
        """The process ids of the live workers, by number."""
        return processes.workers_of(self.service.pid)

    def end_service(self) -> None:
        """Send SIGTERM; raises `ServerFailed` if the service does not stop cleanly."""
        self.service.terminate()
        try:
            status = self.service.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            raise ServerFailed(f"the service did not end:\n{self.log.read_text()}") from None
        if status != 0:
            raise ServerFailed(f"the service ended with {status}:\n{self.log.read_text()}")


@contextmanager
def stage(directory: Path, tree: Path = ROOT) -> Iterator[Stage]:
    """Start everything, with empty tables. `tree` holds the packages of the service; the log of
    the service goes to `directory`."""
    log = directory / "service.log"
    with ExitStack() as stack:
        postgres = stack.enter_context(postgres_server("fsync=on"))
        redis = stack.enter_context(redis_server())
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="copse-faults-")))
        network = stack.enter_context(Network())
        disk = stack.enter_context(small_disk(own / "impressions"))
        upgrade(postgres.url)
        before_postgres, before_redis = network.proxy(postgres.port), network.proxy(redis.port)
        clock = Clock(own)
        service = _start(
            tree,
            log,
            {
                **SETTINGS,
                **clock.environment,
                "COPSE_DATABASE_URL": postgres.url.replace(
                    f":{postgres.port}/", f":{before_postgres.port}/"
                ),
                "COPSE_REDIS_URL": redis.url.replace(f":{redis.port}/", f":{before_redis.port}/"),
                "COPSE_IMPRESSIONS_DIR": str(disk.directory),
                "COPSE_INDEX_DIRECTORY": str(own / "index"),
            },
        )
        stack.callback(_kill, service)
        assert service.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", service.stdout.readline())
        if found is None:
            raise ServerFailed(f"the service did not start:\n{log.read_text()}")
        yield Stage(
            postgres, before_postgres, redis, before_redis, disk, clock, service, found[0], log
        )


def _start(tree: Path, log: Path, variables: dict[str, str]) -> "subprocess.Popen[str]":
    environment = {name: v for name, v in os.environ.items() if not name.startswith("COPSE_")}
    with log.open("w") as errors:
        return subprocess.Popen(
            [sys.executable, "-c", _SERVE, "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=tree,
            env=environment | {"PYTHONPATH": str(tree)} | variables,
        )


def _kill(service: "subprocess.Popen[str]") -> None:
    """Kill the service and its workers, however the run ended."""
    if service.poll() is None:
        workers = processes.workers_of(service.pid)
        service.kill()
        for pid in workers.values():
            processes.send(pid, signal.SIGKILL)
    service.communicate()
