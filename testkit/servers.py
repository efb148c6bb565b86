"""Real servers for tests and benchmarks: Debian's Postgres and Redis, started on free ports.

They run in a temporary directory, without systemd, and stop with the block that wanted them. A
server that is not installed is installed (as root), or `ServerFailed` says what to type: nothing is
mocked and nothing is skipped.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
START_SECONDS = 60


class ServerFailed(RuntimeError):
    """A server is not there, or does not start; the message has what it said itself."""


@dataclass(frozen=True)
class PostgresServer:
    """A Postgres that trusts everybody on the loopback address; it can be stopped and started."""

    port: int
    bin: Path
    directory: Path
    owner: str | None = None
    settings: tuple[str, ...] = ()
    host: str = HOST
    user: str = "postgres"

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://{self.user}@{self.host}:{self.port}/{database}"

    def start(self) -> None:
        settings = " ".join(f"-c {setting}" for setting in self.settings)
        options = f"-c listen_addresses={HOST} -p {self.port} -k {self.directory} {settings}"
        self._pg_ctl("-t", str(START_SECONDS), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        if (self.directory / "data" / "postmaster.pid").exists():
            self._pg_ctl("-m", mode, "stop")

    def _pg_ctl(self, *arguments: str) -> None:
        log = self.directory / "log"
        data = self.directory / "data"
        _run(self.owner, self.bin / "pg_ctl", "-D", data, "-l", log, "-w", *arguments, log=log)


@dataclass
class RedisServer:
    """A Redis that saves nothing; it can be stopped and started, empty."""

    port: int
    bin: Path
    directory: Path
    host: str = HOST
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def start(self) -> None:
        options = ["--bind", HOST, "--port", str(self.port), "--save", "", "--appendonly", "no"]
        log = self.directory / "log"
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [self.bin, *options, "--dir", self.directory], stdout=output, stderr=output
            )
        _wait_until_listening(self.process, self.port, log)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(START_SECONDS)
            self.process = None


@contextmanager
def postgres_server(*settings: str) -> Iterator[PostgresServer]:
    """A new Postgres, started, for as long as the block runs. Nothing in it outlives the machine,
    unless the settings say otherwise."""
    binaries = _installed(_postgres_binaries, "postgresql")
    owner = "postgres" if os.geteuid() == 0 else None  # initdb refuses root
    with _directory(owner) as directory:
        data = directory / "data"
        _run(owner, binaries / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        settings = ("fsync=off", *settings)
        server = PostgresServer(_free_port(), binaries, directory, owner, settings)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A new Redis, started, for as long as the block runs."""
    binary = _installed(lambda: _which("redis-server"), "redis-server")
    with _directory(None) as directory:
        server = RedisServer(_free_port(), binary, directory)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _postgres_binaries() -> Path | None:
    """The binaries of the newest Postgres; Debian keeps them out of PATH."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"),
        key=lambda path: float(path.parent.parent.name),
    )
    if found:
        return found[-1].parent
    elsewhere = _which("pg_ctl")
    return elsewhere.parent if elsewhere else None


def _which(command: str) -> Path | None:
    found = shutil.which(command)
    return Path(found) if found else None


def _installed(find: Callable[[], Path | None], package: str) -> Path:
    """What `find` finds, after installing Debian's `package` where that is needed and possible."""
    if found := find():
        return found
    if os.geteuid() != 0 or _which("apt-get") is None:
        raise ServerFailed(f"{package} is not installed: sudo apt-get install -y {package}")
    # RUNLEVEL=1: the package must not start a server of its own.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", package]):
        done = subprocess.run(
            ["apt-get", *command], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ServerFailed(f"apt-get {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    if found := find():
        return found
    raise ServerFailed(f"{package} is installed, but its server is nowhere to be found")


@contextmanager
def _directory(owner: str | None) -> Iterator[Path]:
    """A directory that `owner` can enter: pytest's own are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="copse-") as name:
        if owner is not None:
            shutil.chown(name, owner)
        yield Path(name)


def _run(owner: str | None, *command: str | Path, log: Path | None = None) -> None:
    """Run a command as `owner`; its output, and the server's log, are told when it fails."""
    user = ["runuser", "-u", owner, "--"] if owner else []
    # The output goes to a file: a server that stays would hold a pipe open, and us with it.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run([*user, *command], stdout=output, stderr=output, cwd="/", check=False)
        if done.returncode != 0:
            output.seek(0)
            more = log.read_text() if log and log.exists() else ""
            raise ServerFailed(f"{command[0]} failed:\n{output.read()}{more}")


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_until_listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise ServerFailed(f"the server did not start:\n{log.read_text()}")
