"""Several workers: one process each, with its own replica of the index, on one listening socket.

    copse serve (the parent: starts, watches, replaces, ends)
      ├── python -m app.worker --number 0      its event loop, its index
      └── python -m app.worker --number 1

The parent holds no index and answers nothing, so nothing that breaks a worker breaks it. A worker
that ends is replaced; one that ends again at once is replaced more slowly; one that hangs is killed
first (`heartbeat.py`). SIGTERM is passed on, and the parent waits until all have answered what they
had begun.
"""

import logging
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from app.workers.heartbeat import ASLEEP_SECONDS, STARTED, Pulse

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
SETTLED_SECONDS = 10.0
"""A worker that ran for so long was not at fault from the start: its successor comes at once."""


@dataclass
class _Worker:
    number: int
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0
    pause: float = 0.0
    due: float = 0.0
    ready: bool = False
    told: int = -1
    """Where the worker is heard; -1 when it is not there."""

    pulse: Pulse | None = None
    hung: bool = False


@dataclass
class Workers:
    """So many workers on a socket; `started` is called once all of them are ready."""

    listener: socket.socket
    count: int
    drain_seconds: float
    started: Callable[[], None]
    hung_seconds: float = 10.0
    replacing: Callable[[int, str], None] = lambda number, reason: None
    """Told of each worker that is replaced, and why: `ended` or `hung`."""

    _workers: list[_Worker] = field(init=False)
    _ending: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._workers = [_Worker(number) for number in range(self.count)]

    def run(self) -> int:
        """Until a signal comes; the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        announced = False
        with selectors.DefaultSelector() as selector:
            looked = time.monotonic()
            while not self._ending:
                for key, _ in selector.select(timeout=0.1):
                    self._hear(key.data, selector)
                asleep = time.monotonic() - looked > ASLEEP_SECONDS
                looked = time.monotonic()
                for worker in self._workers:
                    if asleep and worker.pulse is not None:
                        worker.pulse.heard_at = looked
                    self._look_after(worker, selector)
                if not announced and all(worker.ready for worker in self._workers):
                    announced = True
                    self.started()
        return self._drain()

    def _look_after(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        now = time.monotonic()
        if worker.process is None:
            if now >= worker.due:
                self._start(worker, selector)
            return
        code = worker.process.poll()
        if code is None:
            self._kill_if_silent(worker, now)
            return
        if worker.told != -1:
            self._hang_up(worker, selector)
        short_lived = now - worker.since < SETTLED_SECONDS
        worker.pause = min(max(2 * worker.pause, FIRST_PAUSE), LONGEST_PAUSE) if short_lived else 0
        log.error(
            "worker %d (pid %d) ended with %s; another one in %.1f s",
            worker.number,
            worker.process.pid,
            code,
            worker.pause,
        )
        self.replacing(worker.number, "hung" if worker.hung else "ended")
        worker.process = None
        worker.due = now + worker.pause

    def _kill_if_silent(self, worker: _Worker, now: float) -> None:
        if worker.process is None or worker.pulse is None or worker.hung:
            return
        if worker.pulse.is_silent(now):
            silent = now - worker.pulse.heard_at
            pid = worker.process.pid
            log.error("worker %d (pid %d) is silent for %.0f s: killed", worker.number, pid, silent)
            worker.hung = True
            worker.process.kill()

    def _start(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        hear, tell = os.pipe()
        fd = self.listener.fileno()
        worker.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "app.workers.worker",
                f"--number={worker.number}",
                f"--listener={fd}",
                f"--tell={tell}",
                f"--parent={os.getpid()}",
            ],
            pass_fds=(fd, tell),
        )
        os.close(tell)
        worker.since = time.monotonic()
        worker.told = hear
        worker.pulse = Pulse(self.hung_seconds, worker.since)
        worker.hung = False
        selector.register(hear, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        said = os.read(worker.told, 4096)
        if not said:
            self._hang_up(worker, selector)
            return
        worker.ready = worker.ready or STARTED in said
        if worker.pulse is not None:
            worker.pulse.hear(said, time.monotonic())

    def _hang_up(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        selector.unregister(worker.told)
        os.close(worker.told)
        worker.told = -1

    def _end(self, _: int, __: FrameType | None) -> None:
        self._ending = True

    def _drain(self) -> int:
        """Let the workers finish what they have begun."""
        running = [worker.process for worker in self._workers if worker.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + self.drain_seconds + 5
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.error("worker (pid %d) does not end: killed", process.pid)
                process.kill()
                process.wait()
        return 0
