"""Real servers for tests and benchmarks: Debian's Postgres and Redis, on free ports.

They run in a temporary directory, without systemd, and stop at the end of the `with` block. A
missing server is installed (as root) or `NotInstalled` names the command: nothing is mocked and
nothing is skipped. They listen on the loopback address of this machine, or of a host of
`testkit.hosts`, where other hosts reach them too.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from testkit import Failed
from testkit.debian import installed, which
from testkit.hosts import Host

HOST = "127.0.0.1"
START_SECONDS = 60


class ServerFailed(Failed):
    """A server does not start; the message has its output."""


@dataclass(frozen=True)
class PostgresServer:
    """A Postgres without passwords; it can be stopped and restarted."""

    port: int
    bin: Path
    directory: Path
    owner: str | None = None
    settings: tuple[str, ...] = ()
    on: Host | None = None
    user: str = "postgres"

    @property
    def host(self) -> str:
        return self.on.address if self.on else HOST

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://{self.user}@{self.host}:{self.port}/{database}"

    def start(self) -> None:
        settings = " ".join(f"-c {setting}" for setting in self.settings)
        addresses = ",".join({HOST, self.host})
        options = f"-c listen_addresses={addresses} -p {self.port} -k {self.directory} {settings}"
        with _entered(self.on):
            self._pg_ctl("-t", str(START_SECONDS), "-o", options, "start")

    def stop(self) -> None:
        if (self.directory / "data" / "postmaster.pid").exists():
            self._pg_ctl("-m", "immediate", "stop")

    def _pg_ctl(self, *arguments: str) -> None:
        log = self.directory / "log"
        data = self.directory / "data"
        _run(self.owner, self.bin / "pg_ctl", "-D", data, "-l", log, "-w", *arguments, log=log)


@dataclass
class RedisServer:
    """A Redis without persistence: after a restart it is empty."""

    port: int
    bin: Path
    directory: Path
    on: Host | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return self.on.address if self.on else HOST

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def start(self) -> None:
        options = ["--bind", *{HOST, self.host}, "--port", str(self.port), "--protected-mode", "no"]
        options += ["--save", "", "--appendonly", "no"]
        log = self.directory / "log"
        with _entered(self.on):
            with log.open("wb") as output:
                self.process = subprocess.Popen(
                    [self.bin, *options, "--dir", self.directory], stdout=output, stderr=output
                )
            wait_until_listening(self.process, self.port, log)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(START_SECONDS)
            self.process = None


@contextmanager
def postgres_server(*settings: str, on: Host | None = None) -> Iterator[PostgresServer]:
    """A new Postgres during the block. Without fsync, unless the settings say otherwise."""
    binaries = installed("postgresql", _postgres_binaries)
    owner = "postgres" if os.geteuid() == 0 else None  # initdb refuses root
    with _directory(owner) as directory:
        data = directory / "data"
        _run(owner, binaries / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all samenet trust\n")
        settings = ("fsync=off", *settings)
        server = PostgresServer(free_port(on), binaries, directory, owner, settings, on)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def redis_server(on: Host | None = None) -> Iterator[RedisServer]:
    """A new Redis during the block."""
    binary = installed("redis-server", lambda: which("redis-server"))
    with _directory(None) as directory:
        server = RedisServer(free_port(on), binary, directory, on)
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
    elsewhere = which("pg_ctl")
    return elsewhere.parent if elsewhere else None


@contextmanager
def _directory(owner: str | None) -> Iterator[Path]:
    """A directory that `owner` can enter: pytest's own are closed to other users."""
    with tempfile.TemporaryDirectory(prefix="copse-") as name:
        if owner is not None:
            shutil.chown(name, owner)
        yield Path(name)


def _run(owner: str | None, *command: str | Path, log: Path | None = None) -> None:
    """Run a command as `owner`; an error includes its output and the server's log."""
    user = ["runuser", "-u", owner, "--"] if owner else []
    # The output goes to a file: a server that keeps running would hold a pipe open.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run([*user, *command], stdout=output, stderr=output, cwd="/", check=False)
        if done.returncode != 0:
            output.seek(0)
            more = log.read_text() if log and log.exists() else ""
            raise ServerFailed(f"{command[0]} failed:\n{output.read()}{more}")


def _entered(host: Host | None) -> AbstractContextManager[None]:
    return host.entered() if host else nullcontext()


def free_port(on: Host | None = None) -> int:
    """A port that nobody listens on."""
    with _entered(on), socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def wait_until_listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until a new process accepts connections; an error includes its log."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise ServerFailed(f"the server did not start:\n{log.read_text()}")
