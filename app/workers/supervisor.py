"""Several workers: one process each, with its own replica of the index, on one listening socket.

    copse serve (the parent: starts, monitors and replaces workers)
      ├── python -m app.workers.worker --number 0      its event loop, its index
      └── python -m app.workers.worker --number 1

The parent has no index and answers no requests, so nothing that breaks a worker breaks the parent.
A worker that ends is replaced; one that ends again soon is replaced more slowly; one that hangs is
killed first (`heartbeat.py`). On SIGTERM the parent terminates the workers and waits until they
have finished their requests.
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

from app.workers.heartbeat import ASLEEP_SECONDS, STARTED, HeartbeatMonitor
from campaigns.backoff import Backoff

log = logging.getLogger(__name__)

RESTART = Backoff(0.1, 5.0)
SETTLED_SECONDS = 10.0
"""A worker that ran for this long did not fail at its start: its successor starts immediately."""


@dataclass
class _Worker:
    number: int
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0
    failures: int = 0
    due: float = 0.0
    ready: bool = False
    pipe: int = -1
    """Where its heartbeat is read; -1 if it does not run."""

    monitor: HeartbeatMonitor | None = None
    hung: bool = False


@dataclass
class Supervisor:
    """Runs `count` workers on a socket; `started` is called once all of them are ready."""

    listener: socket.socket
    count: int
    drain_seconds: float
    started: Callable[[], None]
    hung_seconds: float = 10.0
    replacing: Callable[[int, str], None] = lambda number, reason: None
    """Called for each replaced worker, with its number and the reason: `ended` or `hung`."""

    _workers: list[_Worker] = field(init=False)
    _ending: bool = field(default=False, init=False)
    _lifeline: tuple[int, int] = field(init=False)
    """The workers' end of the pipe, and the parent's."""

    def __post_init__(self) -> None:
        self._workers = [_Worker(number) for number in range(self.count)]

    def run(self) -> int:
        """Run until a signal arrives; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        self._lifeline = os.pipe()
        announced = False
        with selectors.DefaultSelector() as selector:
            looked_at = time.monotonic()
            while not self._ending:
                for key, _ in selector.select(timeout=0.1):
                    self._hear(key.data, selector)
                asleep = time.monotonic() - looked_at > ASLEEP_SECONDS
                looked_at = time.monotonic()
                for worker in self._workers:
                    if asleep and worker.monitor is not None:
                        worker.monitor.heard_at = looked_at
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
        if worker.pipe != -1:
            self._close_pipe(worker, selector)
        short_lived = now - worker.since < SETTLED_SECONDS
        pause = RESTART.delay(worker.failures) if short_lived else 0.0
        worker.failures = worker.failures + 1 if short_lived else 0
        log.error(
            "worker %d (pid %d) ended with exit code %s; starting another one in %.1f s",
            worker.number,
            worker.process.pid,
            code,
            pause,
        )
        self.replacing(worker.number, "hung" if worker.hung else "ended")
        worker.process = None
        worker.due = now + pause

    def _kill_if_silent(self, worker: _Worker, now: float) -> None:
        if worker.process is None or worker.monitor is None or worker.hung:
            return
        if worker.monitor.is_silent(now):
            silent = now - worker.monitor.heard_at
            pid = worker.process.pid
            log.error("killed worker %d (pid %d): silent for %.0f s", worker.number, pid, silent)
            worker.hung = True
            worker.process.kill()

    def _start(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        read_end, write_end = os.pipe()
        fd = self.listener.fileno()
        worker.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "app.workers.worker",
                f"--number={worker.number}",
                f"--listener={fd}",
                f"--pipe={write_end}",
                f"--lifeline={self._lifeline[0]}",
                f"--parent={os.getpid()}",
            ],
            pass_fds=(fd, write_end, self._lifeline[0]),
        )
        os.close(write_end)
        worker.since = time.monotonic()
        worker.pipe = read_end
        worker.monitor = HeartbeatMonitor(self.hung_seconds, worker.since)
        worker.hung = False
        selector.register(read_end, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        signals = os.read(worker.pipe, 4096)
        if not signals:
            self._close_pipe(worker, selector)
            return
        worker.ready = worker.ready or STARTED in signals
        if worker.monitor is not None:
            worker.monitor.hear(signals, time.monotonic())

    def _close_pipe(self, worker: _Worker, selector: selectors.BaseSelector) -> None:
        selector.unregister(worker.pipe)
        os.close(worker.pipe)
        worker.pipe = -1

    def _end(self, _: int, __: FrameType | None) -> None:
        self._ending = True

    def _drain(self) -> int:
        """Let the workers finish their requests.

        The listener is closed first: what connects after the last worker has ended is refused, and
        does not wait for somebody to accept it.
        """
        self.listener.close()
        for end in self._lifeline:
            os.close(end)
        running = [worker.process for worker in self._workers if worker.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + self.drain_seconds + 5
        for process in running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.error("killed worker (pid %d): it did not end in time", process.pid)
                process.kill()
                process.wait()
        return 0
