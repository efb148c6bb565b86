"""Faults of workers: kill, stop, drain, make them miss changes."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle

import redis

from tests.faults import processes
from tests.faults.actions.effect import Effect
from tests.faults.actions.servers import trim
from tests.faults.schedule import Fault
from tests.faults.stage import Stage

_HOLDER = (
    "SELECT a.client_port FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted"
)
_HOLDER_SECONDS = 10.0
"""Wait this long for a lease holder: the last one may just have been killed."""

_GAP_SECONDS = (0.3, 0.4, 0.55, 0.35)
"""Uneven, so that they do not line up with heartbeats."""


def _worker(stage: Stage, fault: Fault) -> int | None:
    return stage.services[fault.host].workers().get(fault.worker)


@contextmanager
def worker_kill(stage: Stage, fault: Fault) -> Iterator[Effect]:
    yield Effect(processes.kill(_worker(stage, fault)), fault.host)
    _until_replaced(stage, fault.host)


@contextmanager
def worker_stop(stage: Stage, fault: Fault) -> Iterator[Effect]:
    with processes.stopped(_worker(stage, fault)) as message:
        yield Effect(message, fault.host)
    _until_replaced(stage, fault.host)


@contextmanager
def worker_drain(stage: Stage, fault: Fault) -> Iterator[Effect]:
    pid = _worker(stage, fault)
    existed = pid is not None and processes.send(pid, signal.SIGTERM)
    yield Effect(f"process {pid}" if existed else processes.NONE, fault.host)
    _until_replaced(stage, fault.host, without=pid)


@contextmanager
def worker_gap(stage: Stage, fault: Fault) -> Iterator[Effect]:
    """Stop a worker repeatedly for less than a heartbeat and trim the stream meanwhile, so that
    entries are gone when it continues."""
    _, holder = _holder(stage)
    workers = stage.services[fault.host].workers().values()
    others = [pid for pid in workers if pid != holder]
    ended = threading.Event()

    def stop_and_trim() -> None:
        for seconds in cycle(_GAP_SECONDS):
            if ended.wait(seconds):
                return
            with processes.stopped(others[0] if others else None):
                time.sleep(seconds)
                with suppress(redis.RedisError):  # it may be gone
                    trim(stage, 1)

    stopping = threading.Thread(target=stop_and_trim, daemon=True)
    stopping.start()
    try:
        yield Effect(f"process {others[0]}" if others else processes.NONE, fault.host)
    finally:
        ended.set()
        stopping.join()


@contextmanager
def relay_kill(stage: Stage, _: Fault) -> Iterator[Effect]:
    host, pid = _holder(stage)
    yield Effect(processes.kill(pid), host)
    _until_replaced(stage, host)


@contextmanager
def relay_stop(stage: Stage, _: Fault) -> Iterator[Effect]:
    host, pid = _holder(stage)
    with processes.stopped(pid) as message:
        yield Effect(message, host)
    _until_replaced(stage, host)


def _until_replaced(stage: Stage, host: int | None, without: int | None = None) -> None:
    """A fault lasts until its host has all workers again: on a busy machine a start takes long. A
    worker that was told to end, `without`, may go on until another one is ready."""
    if host is not None:
        stage.services[host].wait_until_whole(stage.token, without)


def _holder(stage: Stage) -> tuple[int | None, int | None]:
    """The host and the worker that hold the lease, found by the connection."""
    psql = [str(stage.postgres.bin / "psql"), "-X", "-A", "-t", "-c", _HOLDER, stage.postgres.url]
    end = time.monotonic() + _HOLDER_SECONDS
    while time.monotonic() < end:
        try:
            asked = subprocess.run(psql, capture_output=True, text=True, timeout=1, check=False)
        except subprocess.TimeoutExpired:
            continue
        for port in map(int, asked.stdout.split()):
            for service in stage.services:
                local = port if service.on else stage.postgres_proxy.client_of(port)
                pid = processes.owner_of(local, list(service.workers().values()))
                if pid is not None:
                    return service.number, pid
        time.sleep(0.1)
    return None, None
