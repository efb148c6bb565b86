"""Injects faults into the stage: each starts on schedule, lasts, and is repaired."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from tests.faults import proxy
from tests.faults.actions import environment, hosts, intruders, operators, servers, workers
from tests.faults.actions.effect import Effect
from tests.faults.history import Injected
from tests.faults.schedule import Fault
from tests.faults.stage import Stage

Action = Callable[[Stage, Fault], AbstractContextManager[Effect]]
"""A context manager that injects a fault, yields its effect, and repairs the fault on exit."""

ACTIONS: dict[str, Action] = {
    "worker.kill": workers.worker_kill,
    "worker.stop": workers.worker_stop,
    "worker.gap": workers.worker_gap,
    "worker.drain": workers.worker_drain,
    "relay.kill": workers.relay_kill,
    "relay.stop": workers.relay_stop,
    "host.cut": hosts.host_cut,
    "host.kill": hosts.host_kill,
    "host.drain": hosts.host_drain,
    "host.burst": hosts.host_burst,
    "command.migrate": operators.migrate,
    "key.revoke": operators.revoke,
    "postgres.kill": servers.postgres_kill,
    "postgres.crash": servers.postgres_crash,
    "postgres.stop": servers.postgres_stop,
    "redis.kill": servers.redis_kill,
    "redis.stop": servers.redis_stop,
    "redis.flush": servers.redis_flush,
    "redis.trim": servers.redis_trim,
    "redis.foreign": intruders.foreign,
    "redis.forge": intruders.forge,
    **{f"{server}.cut": environment.cut for server in ("postgres", "redis")},
    **{
        f"{server}.{mode}": environment.turned
        for server in ("postgres", "redis")
        for mode in (proxy.REFUSE, proxy.HANG, proxy.DEAF)
    },
    **{f"{server}.slow": environment.slow for server in ("postgres", "redis")},
    "disk.full": environment.disk_full,
    "clock.step": environment.clock_step,
}


_SHOWN = 1000
"""Characters of an error; it may contain a whole log."""


class Injector:
    """Injects faults, each in its own thread, and records when they were in effect."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._history = stage.history
        self._threads: list[threading.Thread] = []
        # A slow repair delays the next fault of the same target.
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def inject(self, fault: Fault) -> None:
        """Start a fault in the background."""
        thread = threading.Thread(target=self._run, args=(fault,), name=fault.kind, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self) -> None:
        """Wait until every fault is repaired."""
        for thread in self._threads:
            thread.join()

    def _run(self, fault: Fault) -> None:
        with self._turns[fault.target]:
            self._do(fault)

    def _do(self, fault: Fault) -> None:
        begin = self._history.elapsed()
        effect = Effect()
        try:
            with ACTIONS[fault.kind](self._stage, fault) as effect:
                time.sleep(fault.seconds)
        except Exception as error:  # the run fails: this was not the intended fault
            message = f"{type(error).__name__}: {error}"
            effect.broken = f"command: {fault.kind}: {message[:_SHOWN]}"
        clock = fault.amount if fault.kind == "clock.step" else 0.0
        done = Injected(fault.kind, begin, self._history.elapsed(), effect.message, clock)
        self._history.add(replace(done, host=effect.host, broken=effect.broken))
