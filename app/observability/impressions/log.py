"""The log as the event loop sees it: `add`, which never waits, and a thread that writes.

    add: one thread, the event loop ──▶ deque ──▶ the writing thread, every half second

There is no lock between the two: `append` and `popleft` of a deque are atomic, and each counter has
one writer. The thread encodes a few rows at a time and sleeps in between, since a thread that
computes keeps the interpreter from the event loop for 5 ms at a time.

Lost rows are counted by reason:

    queue_full    more requests than the disk takes        closed       added after `close`
    disk_error    the disk failed until the queue was      unencodable  cannot be written as JSON
                  full, or until the end                   too_large    longer than `row_bytes`
    removed       the file was removed during writing      timeout      not written at the end
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.observability.impressions.leftovers import adopt
from app.observability.impressions.options import Options
from app.observability.impressions.row import Impression, weight_of
from app.observability.impressions.writer import FULL, Reason, Writer
from campaigns.catalogue.privacy import Denylist

log = logging.getLogger(__name__)

GROUP = 16
PAUSE = 0.0002
"""Rows that are encoded at a time, in about 200 µs; then the event loop has its turn."""


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of rows by what happened to them."""

    written: int
    lost: dict[Reason, int]
    waiting: int
    """Rows in memory."""

    adopted: int
    """Files of killed workers that this worker completed."""

    failing: bool
    """Whether the last attempt to write failed."""


class ImpressionLog:
    """Writes rows to files below a directory; the names of the files contain `worker`.

    Make it in the process that uses it, after any fork. `permits` says whether an attribute may be
    logged, by its name.
    """

    def __init__(
        self,
        directory: Path,
        worker: str,
        options: Options | None = None,
        permits: Callable[[str], bool] | None = None,
    ) -> None:
        self._directory = directory
        self._options = options or Options()
        permits = Denylist().permits if permits is None else permits
        self._writer = Writer(directory, worker, self._options, permits)
        self._queue: deque[tuple[int, Impression]] = deque()
        self._bytes_in = 0  # written by the adding thread only
        self._bytes_out = 0  # written by the writing thread only
        self._refused: Counter[Reason] = Counter()  # by the adding thread only
        self._adopted = 0
        self._failures = 0
        self._closing = False
        self._deadline = 0.0
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="impressions", daemon=True)

    def start(self) -> None:
        """Start the thread, which writes and also completes leftovers of killed workers."""
        self._thread.start()

    def add(self, row: Impression) -> bool:
        """Queue a row, from one thread; False if there is no room. It takes a few microseconds."""
        weight = weight_of(row)
        queue, options = self._queue, self._options
        rows = len(queue)
        held = self._bytes_in - self._bytes_out
        if rows >= options.queue_rows or held + weight > options.queue_bytes or self._closing:
            self._refuse()
            return False
        queue.append((weight, row))
        self._bytes_in += weight
        if rows + 1 == options.queue_rows // 2:
            self._wake.set()
        return True

    def close(self, timeout: float) -> bool:
        """Write all queued rows and complete the files within `timeout` seconds; returns whether
        none was lost. It does not wait longer for a disk that hangs."""
        before = sum(self.counts().lost.values())
        self._deadline = time.monotonic() + timeout
        self._closing = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join(timeout + 0.2)
        if self._queue or self._thread.is_alive():
            self._refused["disk_error" if self._failures else "timeout"] += len(self._queue)
            self._queue.clear()
        return not self._thread.is_alive() and sum(self.counts().lost.values()) == before

    def counts(self) -> Counts:
        """The counts so far; from any thread."""
        lost = Counter(dict(self._refused)) + Counter(dict(self._writer.lost))
        waiting = len(self._queue) + self._writer.rows
        return Counts(self._writer.written, dict(lost), waiting, self._adopted, self._failures > 0)

    def _refuse(self) -> None:
        if self._closing:
            self._refused["closed"] += 1
        else:
            self._refused["disk_error" if self._failures else "queue_full"] += 1

    # The writing thread.

    def _run(self) -> None:
        pause, due = self._options.flush_every, time.monotonic()
        while not self._closing:
            if time.monotonic() >= due:
                self._adopt()
                due = time.monotonic() + self._options.adopt_every
            self._wake.wait(pause)
            self._wake.clear()
            pause = self._work()
        self._end()

    def _adopt(self) -> None:
        try:
            self._adopted += adopt(self._directory)
        except Exception:  # the thread must go on
            log.exception("cannot complete the leftovers of killed workers")

    def _work(self) -> float:
        """Write all queued rows; returns the seconds to wait before the next time."""
        try:
            while True:
                if not self._writer.rows:  # else retry the ones that failed
                    self._take()
                self._writer.flush()
                self._recovered()
                if not self._queue:
                    return self._options.flush_every
        except Exception as error:  # the thread must go on
            return self._failed(error)

    def _take(self) -> None:
        queue, writer = self._queue, self._writer
        while queue and writer.size < FULL:
            group = [queue.popleft() for _ in range(min(GROUP, len(queue)))]
            writer.take(row for _, row in group)
            self._bytes_out += sum(weight for weight, _ in group)
            if not self._closing:
                time.sleep(PAUSE)

    def _recovered(self) -> None:
        if self._failures:
            self._failures = 0
            log.warning("writing impressions works again; lost so far: %s", self.counts().lost)

    def _failed(self, error: Exception) -> float:
        if not self._failures:
            log.error(
                "cannot write impressions, will try again: %s",
                error,
                exc_info=None if isinstance(error, OSError) else error,
            )
        self._failures += 1
        return self._options.retry.delay(self._failures - 1)

    def _end(self) -> None:
        while True:
            pause = self._work()
            if not self._failures:
                try:
                    self._writer.finish()
                    return
                except OSError as error:
                    pause = self._failed(error)
            if time.monotonic() + pause > self._deadline:
                self._writer.abandon()
                return
            time.sleep(pause)
