"""Faults, done to the stage: each begins at its time, lasts, and is mended."""

import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import redis

from tests.faults import processes, proxy
from tests.faults.history import History, Injected
from tests.faults.schedule import Fault
from tests.faults.stage import Stage

_HOLDER = (
    "SELECT a.client_port FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
    "WHERE l.locktype = 'advisory' AND l.granted"
)
_HOLDER_SECONDS = 3.0
_GAP_SECONDS = (0.3, 0.4, 0.55, 0.35)
"""Uneven, so that a heartbeat does not come right after each of them."""


class Injector:
    """Does faults, each in a thread of its own, and records when they were felt."""

    def __init__(self, stage: Stage, history: History, elapsed: Callable[[], float]) -> None:
        self._stage = stage
        self._history = history
        self._elapsed = elapsed
        self._threads: list[threading.Thread] = []
        # What takes longer to mend than the schedule thought keeps the next one waiting.
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self.failed: list[str] = []

    def inject(self, fault: Fault) -> None:
        """Begin it, and see to its end."""
        thread = threading.Thread(target=self._run, args=(fault,), name=fault.kind, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Until every fault is mended."""
        for thread in self._threads:
            thread.join()

    def _run(self, fault: Fault) -> None:
        with self._turns[fault.target]:
            self._do(fault)

    def _do(self, fault: Fault) -> None:
        begin = self._elapsed()
        told = ""
        try:
            with DOERS[fault.kind](self._stage, fault) as told:
                time.sleep(fault.seconds)
        except Exception as error:  # the run must know: it was not the fault that was meant
            self.failed.append(f"{fault.kind}: {type(error).__name__}: {error}")
        clock = fault.amount if fault.kind == "clock.step" else 0.0
        self._history.add(Injected(fault.kind, begin, self._elapsed(), told, clock))


Doing = Iterator[str]
"""Between its begin and its end a doer yields what it did."""


# Workers.


@contextmanager
def _worker_kill(stage: Stage, fault: Fault) -> Doing:
    yield _kill(stage.workers().get(fault.worker))


@contextmanager
def _worker_stop(stage: Stage, fault: Fault) -> Doing:
    with _stopped(stage.workers().get(fault.worker)) as told:
        yield told


@contextmanager
def _worker_gap(stage: Stage, _: Fault) -> Doing:
    """It stops again and again, for less than a heartbeat: it got the next entry, and the one after
    that is gone when it goes on."""
    holder = _holder(stage)
    others = [pid for pid in stage.workers().values() if pid != holder]
    ended = threading.Event()

    def stop_and_trim() -> None:
        for seconds in cycle(_GAP_SECONDS):
            if ended.wait(seconds):
                return
            with _stopped(others[0] if others else None):
                time.sleep(seconds)
                _trim(stage, 1)

    stopping = threading.Thread(target=stop_and_trim, daemon=True)
    stopping.start()
    try:
        yield f"process {others[0]}" if others else "nobody there"
    finally:
        ended.set()
        stopping.join()


@contextmanager
def _relay_kill(stage: Stage, _: Fault) -> Doing:
    yield _kill(_holder(stage))


@contextmanager
def _relay_stop(stage: Stage, _: Fault) -> Doing:
    with _stopped(_holder(stage)) as told:
        yield told


def _kill(pid: int | None) -> str:
    if pid is None or not processes.send(pid, signal.SIGKILL):
        return "nobody there"
    return f"process {pid}"


@contextmanager
def _stopped(pid: int | None) -> Doing:
    """It may be dead by the end: whoever looks after it can lose patience."""
    if pid is None or not processes.send(pid, signal.SIGSTOP):
        yield "nobody there"
        return
    try:
        yield f"process {pid}"
    finally:
        processes.send(pid, signal.SIGCONT)


def _holder(stage: Stage) -> int | None:
    """The worker that holds the lease, by the connection that it holds it with."""
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


# Postgres and Redis.


def _postgres_pids(stage: Stage) -> list[int]:
    file = stage.postgres.directory / "data" / "postmaster.pid"
    first = int(file.read_text().split()[0])
    return [first, *processes.children(first)]


@contextmanager
def _postgres_kill(stage: Stage, _: Fault) -> Doing:
    pids = _postgres_pids(stage)
    for pid in pids:
        processes.send(pid, signal.SIGKILL)
    try:
        yield f"{len(pids)} processes"
    finally:
        _until_gone(pids)
        stage.postgres.start()


def _until_gone(pids: list[int]) -> None:
    """A new server refuses to start while a process of the old one has its memory."""
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)


@contextmanager
def _postgres_crash(stage: Stage, _: Fault) -> Doing:
    yield _kill(_postgres_pids(stage)[-1])


@contextmanager
def _postgres_stop(stage: Stage, _: Fault) -> Doing:
    pids = _postgres_pids(stage)
    for pid in pids:
        processes.send(pid, signal.SIGSTOP)
    try:
        yield f"{len(pids)} processes"
    finally:
        for pid in reversed(pids):
            processes.send(pid, signal.SIGCONT)


@contextmanager
def _redis_kill(stage: Stage, _: Fault) -> Doing:
    stage.redis.stop()
    try:
        yield ""
    finally:
        stage.redis.start()


@contextmanager
def _redis_stop(stage: Stage, _: Fault) -> Doing:
    assert stage.redis.process is not None
    with _stopped(stage.redis.process.pid) as told:
        yield told


@contextmanager
def _redis_flush(stage: Stage, _: Fault) -> Doing:
    with redis.Redis.from_url(stage.redis.url) as client:
        client.flushall()
    yield ""


@contextmanager
def _redis_trim(stage: Stage, fault: Fault) -> Doing:
    yield f"{_trim(stage, int(fault.amount))} entries"


def _trim(stage: Stage, left: int) -> int:
    with redis.Redis.from_url(stage.redis.url) as client:
        keys = list(client.scan_iter("copse:*"))
        return sum(client.xtrim(key, maxlen=left, approximate=False) for key in keys)


# The network, the disk, the clock.


def _proxy_of(stage: Stage, fault: Fault) -> proxy.Proxy:
    return stage.postgres_proxy if fault.target == "postgres" else stage.redis_proxy


@contextmanager
def _cut(stage: Stage, fault: Fault) -> Doing:
    _proxy_of(stage, fault).cut()
    yield ""


@contextmanager
def _turned(stage: Stage, fault: Fault) -> Doing:
    before = _proxy_of(stage, fault)
    before.turn(fault.kind.rpartition(".")[2])
    try:
        yield ""
    finally:
        before.turn(proxy.PASS)


@contextmanager
def _slow(stage: Stage, fault: Fault) -> Doing:
    before = _proxy_of(stage, fault)
    before.delay = fault.amount
    try:
        yield f"{fault.amount:g} s"
    finally:
        before.delay = 0.0


@contextmanager
def _disk_full(stage: Stage, _: Fault) -> Doing:
    def pids() -> list[int]:
        return [stage.service.pid, *stage.workers().values()]

    stage.disk.fill(pids())
    try:
        yield stage.disk.means
    finally:
        stage.disk.clear(pids())


@contextmanager
def _clock_step(stage: Stage, fault: Fault) -> Doing:
    stage.clock.step(int(fault.amount))
    try:
        yield f"{fault.amount:+g} s"
    finally:
        stage.clock.step(0)


DOERS = {
    "worker.kill": _worker_kill,
    "worker.stop": _worker_stop,
    "worker.gap": _worker_gap,
    "relay.kill": _relay_kill,
    "relay.stop": _relay_stop,
    "postgres.kill": _postgres_kill,
    "postgres.crash": _postgres_crash,
    "postgres.stop": _postgres_stop,
    "redis.kill": _redis_kill,
    "redis.stop": _redis_stop,
    "redis.flush": _redis_flush,
    "redis.trim": _redis_trim,
    **{f"{server}.cut": _cut for server in ("postgres", "redis")},
    **{
        f"{server}.{mode}": _turned
        for server in ("postgres", "redis")
        for mode in (proxy.REFUSE, proxy.HANG, proxy.DEAF)
    },
    **{f"{server}.slow": _slow for server in ("postgres", "redis")},
    "disk.full": _disk_full,
    "clock.step": _clock_step,
}
