"""Real servers for tests of the monitoring: Debian's Prometheus and Alertmanager, on free ports."""

import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.debian import installed, which
from testkit.servers import HOST, free_port, wait_until_listening


@dataclass(frozen=True)
class MonitoringServer:
    """A running Prometheus or Alertmanager."""

    port: int

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def is_ready(self) -> bool:
        """Whether it answers queries; it listens a moment earlier."""
        try:
            urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=10).close()
        except urllib.error.HTTPError as refused:
            refused.close()
            return False
        return True

    def get(self, path: str) -> Any:
        """The JSON at a path of its API."""
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as answer:
            return json.load(answer)

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The labels and values of an expression now."""
        found = self.get(f"/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
        return [(each["metric"], float(each["value"][1])) for each in found["data"]["result"]]


@contextmanager
def prometheus_server(config: Path) -> Iterator[MonitoringServer]:
    """A Prometheus with a configuration file, during the block."""
    with _running("prometheus", "prometheus", config, "--storage.tsdb.path") as server:
        yield server


@contextmanager
def alertmanager_server(config: Path) -> Iterator[MonitoringServer]:
    """An Alertmanager with a configuration file, during the block."""
    name = "prometheus-alertmanager"
    with _running(name, name, config, "--storage.path", "--cluster.listen-address=") as server:
        yield server


@contextmanager
def _running(
    package: str, command: str, config: Path, storage: str, *options: str
) -> Iterator[MonitoringServer]:
    binary = installed(package, lambda: which(command))
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="copse-") as name:
        log = Path(name) / "log"
        arguments = [f"--config.file={config}", f"{storage}={name}/data", *options]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [binary, *arguments, f"--web.listen-address={HOST}:{port}"],
                stdout=output,
                stderr=output,
            )
        try:
            wait_until_listening(process, port, log)
            server = MonitoringServer(port)
            while not server.is_ready():
                time.sleep(0.05)
            yield server
        finally:
            process.kill()
            process.wait()
