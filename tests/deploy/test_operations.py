"""The upgrade and the restore of docs/operations.md, by its own commands, under load."""

import asyncio
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from campaigns.advertiser import service as advertiser
from campaigns.database.engine import Database
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from campaigns.store import Store
from migrations.run import upgrade
from testkit.servers import PostgresServer, RedisServer
from tests.app.answers import eventually
from tests.deploy.replicas import ROOT, WORKERS, Load, Replica, Version, current, following

PAGE = (ROOT / "docs" / "operations.md").read_text()
DIGEST = re.compile(r"^epoch (\w+) rev (\d+) .*digest (\w+)$", re.M)
COMMANDS_SECONDS = 240.0
IN_STEP_SECONDS = 60.0


def commands_of(section: str) -> list[str]:
    """The blocks of commands in a section of the page."""
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return re.findall(r"```sh\n(.*?)```", text, re.S)


BACK_UP, RESTORE = commands_of("Back up and restore")
MIGRATE, COMPARE = commands_of("Upgrade")


class Operator:
    """Somebody who types the commands of the page."""

    def __init__(self, postgres: PostgresServer, url: str, directory: Path) -> None:
        self._path = postgres.bin
        self._url = url
        self._directory = directory

    def run(self, commands: str, version: Version) -> str:
        variables = version.variables() | {"COPSE_DATABASE_URL": self._url}
        variables["PATH"] = f"{variables['PATH']}{os.pathsep}{self._path}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            env=os.environ | variables,
            cwd=self._directory,
            capture_output=True,
            text=True,
            timeout=COMMANDS_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, query: str) -> list[str]:
        command = [str(self._path / "psql"), self._url, "-XAtc", query]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()


def prepare(url: str) -> tuple[str, int]:
    """A key with all scopes, and an advertiser."""

    async def work() -> tuple[str, int]:
        async with Database(url) as database:
            store = Store(database)
            new = await key.create(store, "test", {"name": "all", "scopes": list(SCOPES)})
            return new.token, (await advertiser.create(store, "test", {"name": "Shop"})).id

    return asyncio.run(work())


@pytest.fixture
def database(postgres: PostgresServer, request: pytest.FixtureRequest) -> str:
    """The URL of a new database with the tables of this version."""
    name = "operated_" + re.sub(r"\W", "_", request.node.name)[-40:]
    psql = [str(postgres.bin / "psql"), postgres.url, "-qc", f"CREATE DATABASE {name}"]
    subprocess.run(psql, check=True)
    url = postgres.url_of(name)
    upgrade(url)
    return url


@pytest.fixture
def replicas(database: str, redis: RedisServer, tmp_path: Path) -> Iterator[list[Replica]]:
    """Two replicas of this version, with two workers each."""
    version = current(tmp_path)
    settings = {
        "COPSE_DATABASE_URL": database,
        "COPSE_REDIS_URL": redis.url,
        "COPSE_LONGEST_WAIT_MS": "5000",
    }
    with ExitStack() as stack:
        made = [Replica(version, settings, tmp_path / f"replica-{n}.log") for n in range(2)]
        for each in made:
            each.start()
            stack.callback(each.end)
        for each in made:
            each.wait_until_ready()
        yield made


@pytest.mark.parametrize("rounds", [1, pytest.param(6, marks=pytest.mark.long)])
def test_upgrade_roll_back_and_restore_under_load(
    rounds: int,
    postgres: PostgresServer,
    database: str,
    replicas: list[Replica],
    tmp_path: Path,
) -> None:
    token, owner = prepare(database)
    operator = Operator(postgres, database, tmp_path)
    old, new = replicas[0].version, following(tmp_path)

    def compare(commands: str) -> None:
        """Every worker comes to have the digest of the database, which the commands print last."""
        epoch, rev, digest = DIGEST.findall(operator.run(commands, new))[0]
        wanted = [(epoch, int(rev), digest)] * WORKERS * len(replicas)

        def found() -> list[tuple[str, int, str]]:
            workers = [worker for replica in replicas for worker in replica.workers(token)]
            return [(each["epoch"], each["rev"], each["digest"]) for each in workers]

        eventually(lambda: found() == wanted, IN_STEP_SECONDS)

    eventually(lambda: all(len(each.workers(token)) == WORKERS for each in replicas))
    load = Load(replicas, token, owner)
    try:
        eventually(lambda: len(load.written) > 10, IN_STEP_SECONDS)
        backed_up = set(load.written)
        operator.run(BACK_UP, old)

        # Upgrade: the migration beside the old version, then one replica after the other.
        assert "revision next" in operator.run(MIGRATE, new)
        assert operator.ask("SELECT version_num FROM alembic_version")[0] == "next"
        for _ in range(rounds):
            for each in replicas:
                each.roll_to(new)
            # And back: the old version on the new tables, for a while beside the new one.
            for each in replicas[: 1 if rounds == 1 else 2]:
                each.roll_to(old)
        assert load.lost == []
        done = len(load.written)
        eventually(lambda: len(load.written) > done + 10, IN_STEP_SECONDS)
        load.stop_writing()
        compare(COMPARE)
        rows = operator.ask("SELECT id || '=' || name FROM campaigns")
        assert {f"{id}={name}" for id, name in load.written.items()} <= set(rows)

        # Restore: the backup has older tables, and lacks what was written since.
        compare(RESTORE)
        assert operator.ask("SELECT version_num FROM alembic_version")[0] == "next"
        rows = operator.ask("SELECT id FROM campaigns")
        assert backed_up <= set(map(int, rows))
        assert len(rows) < len(load.written)
    finally:
        load.stop()
    assert load.lost == []
    assert load.matched > 100
    # Writes are accepted again.
    again = Load(replicas, token, owner)
    try:
        eventually(lambda: len(again.written) > 4, IN_STEP_SECONDS)
    finally:
        again.stop()
    assert again.lost == []
