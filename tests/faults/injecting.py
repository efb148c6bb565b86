"""Faults, done to the stage: each begins at its time, lasts, and is mended."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.faults import proxy
from tests.faults.doing import servers, surroundings, workers
from tests.faults.history import History, Injected
from tests.faults.schedule import Fault
from tests.faults.stage import Stage

Doer = Callable[[Stage, Fault], AbstractContextManager[str]]
"""Between its begin and its end, which mends it, a doer says what it did."""

DOERS: dict[str, Doer] = {
    "worker.kill": workers.worker_kill,
    "worker.stop": workers.worker_stop,
    "worker.gap": workers.worker_gap,
    "relay.kill": workers.relay_kill,
    "relay.stop": workers.relay_stop,
    "postgres.kill": servers.postgres_kill,
    "postgres.crash": servers.postgres_crash,
    "postgres.stop": servers.postgres_stop,
    "redis.kill": servers.redis_kill,
    "redis.stop": servers.redis_stop,
    "redis.flush": servers.redis_flush,
    "redis.trim": servers.redis_trim,
    **{f"{server}.cut": surroundings.cut for server in ("postgres", "redis")},
    **{
        f"{server}.{mode}": surroundings.turned
        for server in ("postgres", "redis")
        for mode in (proxy.REFUSE, proxy.HANG, proxy.DEAF)
    },
    **{f"{server}.slow": surroundings.slow for server in ("postgres", "redis")},
    "disk.full": surroundings.disk_full,
    "clock.step": surroundings.clock_step,
}


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
