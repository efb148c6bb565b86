"""The admin API gives a transaction up after a while: real processes, a head that is locked, a
Postgres that is stopped or restarted."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from migrations.run import upgrade
from testkit.client import Answer, Client, Lost
from testkit.processes import family_of
from testkit.servers import PostgresServer, postgres_server
from testkit.service import service
from tests.app.answers import eventually
from tests.app.conftest import make_keys, on_store

SECONDS = 2.0
GRACE = 2.0
"""More than this after the limit would be no answer in time, also on a busy machine."""

BODY = {"name": "Shop"}


@dataclass
class Stage:
    """A service and its Postgres."""

    postgres: PostgresServer
    port: int
    token: str

    def create(self, key: str, timeout: float = 30) -> Answer:
        with Client(self.port, self.token, timeout) as client:
            return client.send("POST", "/v1/advertisers", BODY, Idempotency_Key=key)

    def psql(self, query: str) -> str:
        command = [str(self.postgres.bin / "psql"), "-X", "-A", "-t", "-c", query]
        done = subprocess.run([*command, self.postgres.url], capture_output=True, text=True)
        return done.stdout.strip()

    def waiting(self) -> int:
        """The number of sessions of the service that wait for a lock."""
        waiting = "application_name = 'copse' AND wait_event_type = 'Lock'"
        return int(self.psql(f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}"))

    @contextmanager
    def head_locked(self) -> Iterator[None]:
        """Another transaction holds the head during the block."""
        command = [str(self.postgres.bin / "psql"), "-X", "-q", self.postgres.url]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
        assert holder.stdin is not None
        holder.stdin.write("BEGIN; SELECT FROM feed_head FOR UPDATE;\n")
        holder.stdin.flush()
        held = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        try:
            eventually(lambda: self.psql(held) == "1")
            yield
        finally:
            holder.communicate("ROLLBACK;\n", timeout=10)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with postgres_server() as postgres:
        upgrade(postgres.url)
        token = on_store(postgres.url, make_keys)["all"]
        with service("limit", postgres.url, 0, database_seconds=SECONDS) as server:
            yield Stage(postgres, server.port, token)


def assert_unavailable(answer: Answer) -> None:
    assert (answer.status, answer.content["errors"][0]["code"]) == (503, "database.unavailable")


def test_a_write_that_waits_too_long_is_refused_not_written_and_can_be_repeated(
    stage: Stage,
) -> None:
    rev = stage.psql("SELECT rev FROM feed_head")
    with stage.head_locked():
        begin = time.monotonic()
        assert_unavailable(stage.create("blocked"))
        assert SECONDS <= time.monotonic() - begin < SECONDS + GRACE
        eventually(lambda: stage.waiting() == 0)
    assert stage.psql("SELECT rev FROM feed_head") == rev
    assert stage.create("blocked").status == 201


def test_the_write_of_a_client_that_has_gone_is_not_made_later(stage: Stage) -> None:
    rev = stage.psql("SELECT rev FROM feed_head")
    with stage.head_locked():
        with pytest.raises(Lost):
            stage.create("gone", timeout=0.2)
        eventually(lambda: stage.waiting() == 1)
        eventually(lambda: stage.waiting() == 0)
    assert stage.psql("SELECT rev FROM feed_head") == rev


def test_a_postgres_that_is_stopped_costs_the_limit_and_no_more(stage: Stage) -> None:
    with Client(stage.port, stage.token) as client:
        assert client.send("GET", "/v1/advertisers").status == 200
        running = (stage.postgres.directory / "data" / "postmaster.pid").read_text()
        processes = family_of(int(running.partition("\n")[0]))
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            assert_unavailable(client.send("GET", "/v1/advertisers"))
            assert time.monotonic() - begin < SECONDS + GRACE
            assert_unavailable(stage.create("stopped"))
        finally:
            for pid in processes:
                os.kill(pid, signal.SIGCONT)
    assert stage.create("stopped").status == 201


def test_a_create_that_met_a_restart_can_be_repeated_at_once(stage: Stage) -> None:
    answers: list[Any] = []
    with stage.head_locked():
        first = threading.Thread(target=lambda: answers.append(stage.create("restarted")))
        first.start()
        eventually(lambda: stage.waiting() == 1)
        stage.postgres.stop()
        first.join()
    stage.postgres.start()
    assert_unavailable(answers[0])
    again = stage.create("restarted")
    assert again.status == 201, again.body
    repeated = stage.create("restarted")
    assert repeated.content == again.content
