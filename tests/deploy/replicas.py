"""Replicas of the service, each of its own version of the code, and clients behind a balancer."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from migrations.run import latest
from testkit.client import Answer, Client, Lost

ROOT = Path(__file__).parents[2]
PACKAGES = ("app", "campaigns", "index", "migrations")
WORKERS = 2
JSON, NDJSON = "application/json", "application/x-ndjson"
START_SECONDS = 180
END_SECONDS = 90

ADDITION = '''"""A table and a column more."""

import sqlalchemy as sa
from alembic import op

revision: str = "next"
down_revision: str | None = "{latest}"


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("added", sa.Text(), nullable=True))
    op.create_table("added", sa.Column("id", sa.Integer(), primary_key=True))


def downgrade() -> None:
    op.drop_table("added")
    op.drop_column("campaigns", "added")
'''


@dataclass(frozen=True)
class Version:
    """A version of the code: its packages, and a folder with its command `copse`."""

    tree: Path
    bin: Path

    def variables(self) -> dict[str, str]:
        """So that `copse` and `python` are those of this version."""
        path = os.pathsep.join(
            [str(self.bin), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
        return {"PATH": path, "PYTHONPATH": str(self.tree)}


def current(directory: Path) -> Version:
    """The code of this checkout."""
    return _version(ROOT, directory / "current")


def following(directory: Path) -> Version:
    """A version after it, with one more migration."""
    tree = directory / "following" / "tree"
    ignored = shutil.ignore_patterns("__pycache__", "target", "*.rs")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    migration = tree / "migrations" / "versions" / "next.py"
    migration.write_text(ADDITION.replace("{latest}", latest()))
    return _version(tree, directory / "following")


def _version(tree: Path, directory: Path) -> Version:
    directory.mkdir(exist_ok=True)
    command = directory / "copse"
    program = "import sys; from app.cli import main; sys.exit(main())"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{program}' \"$@\"\n")
    command.chmod(0o755)
    return Version(tree, directory)


@dataclass
class Replica:
    """`copse serve` on a port that stays the same."""

    version: Version
    settings: dict[str, str]
    log: Path
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]

    def start(self) -> None:
        variables = self.version.variables() | self.settings
        variables |= {"COPSE_PORT": str(self.port), "COPSE_WORKERS": str(WORKERS)}
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.version.bin / "copse", "serve"],
                env=os.environ | variables,
                cwd=self.version.tree,
                stdout=output,
                stderr=output,
            )

    def wait_until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        with Client(self.port) as client:
            while True:
                with suppress(Lost):
                    if client.send("GET", "/healthz/ready").status == HTTPStatus.OK:
                        return
                assert time.monotonic() < end, self.log.read_text()
                time.sleep(0.05)

    def roll_to(self, version: Version) -> None:
        """Drain it and start it with another version; returns when that is ready."""
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(END_SECONDS) == 0, self.log.read_text()
        self.version = version
        self.start()
        self.wait_until_ready()

    def end(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(END_SECONDS)

    def workers(self, token: str) -> list[dict[str, Any]]:
        """The state of each worker; none before they know the key."""
        with Client(self.port, token) as client:
            answer = client.send("GET", "/v1/index")
        found: list[dict[str, Any]] = answer.content.get("workers", [])
        return found


@dataclass
class Balancer:
    """A client of all replicas. It stays with one until that takes no more connections."""

    replicas: list[Replica]
    token: str
    first: int = 0

    def __post_init__(self) -> None:
        # A replica listens before its workers have started, which takes long on a busy machine.
        self._clients = [Client(each.port, self.token, timeout=60.0) for each in self.replicas]

    def send(self, method: str, path: str, body: Any, media_type: str = JSON) -> Answer:
        """The answer of the first replica that takes the connection; `Lost` if it gives none."""
        count = len(self._clients)
        for place in range(self.first, self.first + count):
            try:
                return self._clients[place % count].send(method, path, body, media_type)
            except Lost as lost:
                if not isinstance(lost.__cause__, ConnectionRefusedError):
                    raise
        raise Lost("no replica takes connections")

    def close(self) -> None:
        for each in self._clients:
            each.close()


@dataclass
class Load:
    """Matches and imports through the balancer, until stopped."""

    replicas: list[Replica]
    token: str
    advertiser: int
    pause: float = 0.05
    matched: int = 0
    lost: list[str] = field(default_factory=list)
    written: dict[int, str] = field(default_factory=dict)
    """The names of the campaigns whose import was acknowledged, by id."""

    def __post_init__(self) -> None:
        self._writing = threading.Event()
        self._matching = threading.Event()
        self._writing.set()
        self._matching.set()
        places = range(len(self.replicas))
        self._writers = [threading.Thread(target=self._write, args=(place,)) for place in places]
        self._matchers = [threading.Thread(target=self._match, args=(place,)) for place in places]
        for each in (*self._writers, *self._matchers):
            each.start()

    def stop_writing(self) -> None:
        self._writing.clear()
        for each in self._writers:
            each.join()

    def stop(self) -> None:
        self.stop_writing()
        self._matching.clear()
        for each in self._matchers:
            each.join()

    def _match(self, place: int) -> None:
        balancer = Balancer(self.replicas, self.token, place)
        while self._matching.is_set():
            try:
                answer = balancer.send("POST", "/v1/match", {"attributes": {"country": "US"}})
            except Lost as lost:
                self.lost.append(str(lost))
            else:
                self.matched += 1
                if answer.status != HTTPStatus.OK:
                    self.lost.append(f"{answer.status} {answer.body.decode()}")
            time.sleep(self.pause)
        balancer.close()

    def _write(self, place: int) -> None:
        """Import campaigns one after the other; each is repeated until it is acknowledged."""
        balancer = Balancer(self.replicas, self.token, place)
        number = 0
        while self._writing.is_set():
            number += 1
            name = f"campaign {place} {number}"
            fields = {"advertiser_id": self.advertiser, "name": name, "external_id": name}
            while (id := _import(balancer, fields | {"status": "active"})) is None:
                time.sleep(0.1)
            self.written[id] = name
            time.sleep(self.pause)
        balancer.close()


def _import(balancer: Balancer, fields: dict[str, Any]) -> int | None:
    """The id of the campaign; None if it must be sent again."""
    try:
        answer = balancer.send("POST", "/v1/campaigns/import", fields, NDJSON)
    except Lost:
        return None
    if answer.status != HTTPStatus.OK:
        assert answer.status == HTTPStatus.SERVICE_UNAVAILABLE, answer.body
        return None
    with suppress(ValueError):  # an answer that ends abruptly
        id: int | None = answer.content["id"]
        return id
    return None
