"""Faults of workers: kill, stop, make them miss changes."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle

from tests.faults import processes
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


@contextmanager
def worker_kill(stage: Stage, fault: Fault) -> Iterator[str]:
    yield processes.kill(stage.workers().get(fault.worker))


@contextmanager
def worker_stop(stage: Stage, fault: Fault) -> Iterator[str]:
    with processes.stopped(stage.workers().get(fault.worker)) as message:
        yield message


@contextmanager
def worker_gap(stage: Stage, _: Fault) -> Iterator[str]:
    """Stop a worker repeatedly for less than a heartbeat and trim the stream meanwhile, so that
    entries are gone when it continues."""
    holder = _holder(stage)
    others = [pid for pid in stage.workers().values() if pid != holder]
    ended = threading.Event()

    def stop_and_trim() -> None:
        for seconds in cycle(_GAP_SECONDS):
            if ended.wait(seconds):
                return
            with processes.stopped(others[0] if others else None):
                time.sleep(seconds)
                trim(stage, 1)

    stopping = threading.Thread(target=stop_and_trim, daemon=True)
    stopping.start()
    try:
        yield f"process {others[0]}" if others else "no such process"
    finally:
        ended.set()
        stopping.join()


@contextmanager
def relay_kill(stage: Stage, _: Fault) -> Iterator[str]:
    yield processes.kill(_holder(stage))


@contextmanager
def relay_stop(stage: Stage, _: Fault) -> Iterator[str]:
    with processes.stopped(_holder(stage)) as message:
        yield message


def _holder(stage: Stage) -> int | None:
    """The worker that holds the lease, found by its connection."""
    psql = [str(stage.postgres.bin / "psql"), "-X", "-A", "-t", "-c", _HOLDER, stage.postgres.url]
    end = time.monotonic() + _HOLDER_SECONDS
    while time.monotonic() < end:
        try:
            asked = subprocess.run(psql, capture_output=True, text=True, timeout=1, check=False)
        except subprocess.TimeoutExpired:
            continue
        for port in asked.stdout.split():
            client = stage.postgres_proxy.client_of(int(port))
            if client and (pid := processes.owner_of(client, list(stage.workers().values()))):
                return pid
        time.sleep(0.1)
    return None
