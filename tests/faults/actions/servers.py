"""Faults of Postgres and Redis themselves."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from testkit.processes import children_of
from tests.faults import processes
from tests.faults.actions.effect import Effect
from tests.faults.schedule import Fault
from tests.faults.stage import Stage


def _postgres_pids(stage: Stage) -> list[int]:
    file = stage.postgres.directory / "data" / "postmaster.pid"
    first = int(file.read_text().split()[0])
    return [first, *children_of(first)]


@contextmanager
def postgres_kill(stage: Stage, _: Fault) -> Iterator[Effect]:
    pids = _postgres_pids(stage)
    for pid in pids:
        processes.send(pid, signal.SIGKILL)
    try:
        yield Effect(f"{len(pids)} processes")
    finally:
        _until_gone(pids)
        stage.postgres.start()


def _until_gone(pids: list[int]) -> None:
    """A new Postgres refuses to start while an old process holds the shared memory."""
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)


@contextmanager
def postgres_crash(stage: Stage, _: Fault) -> Iterator[Effect]:
    yield Effect(processes.kill(_postgres_pids(stage)[-1]))


@contextmanager
def postgres_stop(stage: Stage, _: Fault) -> Iterator[Effect]:
    pids = _postgres_pids(stage)
    for pid in pids:
        processes.send(pid, signal.SIGSTOP)
    try:
        yield Effect(f"{len(pids)} processes")
    finally:
        for pid in reversed(pids):
            processes.send(pid, signal.SIGCONT)


@contextmanager
def redis_kill(stage: Stage, _: Fault) -> Iterator[Effect]:
    stage.redis.stop()
    try:
        yield Effect()
    finally:
        stage.redis.start()


@contextmanager
def redis_stop(stage: Stage, _: Fault) -> Iterator[Effect]:
    assert stage.redis.process is not None
    with processes.stopped(stage.redis.process.pid) as message:
        yield Effect(message)


@contextmanager
def redis_flush(stage: Stage, _: Fault) -> Iterator[Effect]:
    with redis.Redis.from_url(stage.redis.url) as client:
        client.flushall()
    yield Effect()


@contextmanager
def redis_trim(stage: Stage, fault: Fault) -> Iterator[Effect]:
    yield Effect(f"{trim(stage, int(fault.amount))} entries")


def trim(stage: Stage, left: int) -> int:
    with redis.Redis.from_url(stage.redis.url) as client:
        keys = list(client.scan_iter("copse:*"))
        return sum(client.xtrim(key, maxlen=left, approximate=False) for key in keys)
