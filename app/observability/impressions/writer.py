"""The writing side of the log: rows to lines, lines to parts, parts to complete files.

One thread uses it. A step that fails with a disk error leaves everything as it was, so that it can
be tried again.
"""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from app.observability.impressions.options import Options
from app.observability.impressions.part import Part, PartGone
from app.observability.impressions.row import Impression, Unencodable, directory_of, encode

Reason = Literal[
    "queue_full", "disk_error", "removed", "closed", "unencodable", "too_large", "timeout"
]
"""Why a row was lost; `log.py` explains each."""

FULL = 2**20
"""Most bytes of lines that are written at a time, and that wait for a failing disk."""


@dataclass(slots=True)
class _Lines:
    """The next lines of one partition."""

    lines: list[bytes] = field(default_factory=list)
    size: int = 0


class Writer:
    """Lines that wait for the disk, and their parts, one for each hour."""

    def __init__(
        self,
        root: Path,
        worker: str,
        options: Options,
        permits: Callable[[str], bool],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.written = 0
        self.lost: Counter[Reason] = Counter()
        self.rows = 0
        """Rows that wait for the disk."""

        self.size = 0
        """Their bytes."""

        self._root = root
        self._worker = worker
        self._options = options
        self._permits = permits
        self._clock = clock
        self._waiting: dict[str, _Lines] = {}
        self._parts: dict[str, Part] = {}
        self._run = secrets.token_hex(3)  # workers on two hosts may have the same name
        self._numbers = count()

    def take(self, rows: Iterable[Impression]) -> None:
        """Encode rows as lines, in memory."""
        for row in rows:
            try:
                directory = directory_of(row.time)
                line = encode(row, self._permits)
            except Unencodable:
                self.lost["unencodable"] += 1
                continue
            if len(line) > self._options.row_bytes:
                self.lost["too_large"] += 1
                continue
            waiting = self._waiting.setdefault(directory, _Lines())
            waiting.lines.append(line)
            waiting.size += len(line)
            self.size += len(line)
            self.rows += 1

    def flush(self) -> None:
        """Write the waiting lines, complete and sync parts that are due; retry after `OSError`."""
        for directory in sorted(self._waiting):
            waiting = self._waiting[directory]
            self._append(directory, waiting)
            self.size -= waiting.size
            self.rows -= len(waiting.lines)
            del self._waiting[directory]
        now = self._clock()
        for directory, part in list(self._parts.items()):
            if self._is_complete(directory, part, now):
                self._complete(directory)
            elif part.dirty and now - part.synced >= self._options.sync_every:
                part.sync(now)

    def finish(self) -> None:
        """Complete every part; after `OSError` try again."""
        for directory in list(self._parts):
            self._complete(directory)

    def abandon(self) -> None:
        """Give up: waiting lines are lost, written ones are left for the next start to adopt."""
        self.lost["disk_error"] += self.rows
        self._waiting.clear()
        self.rows = self.size = 0
        for part in self._parts.values():
            part.close()
        self._parts.clear()

    def _append(self, directory: str, waiting: _Lines) -> None:
        try:
            part = self._part(directory)
            part.append(b"".join(waiting.lines), len(waiting.lines))
        except PartGone:
            self._forget(directory)
            raise
        self.written += len(waiting.lines)

    def _part(self, directory: str) -> Part:
        part = self._parts.get(directory)
        if part is None:
            now = self._clock()
            name = f"part-{self._worker}-{int(now * 1000)}-{self._run}-{next(self._numbers)}.jsonl"
            part = self._parts[directory] = Part(self._root / directory, name, now)
        return part

    def _is_complete(self, directory: str, part: Part, now: float) -> bool:
        return (
            part.size >= self._options.part_bytes
            or now - part.opened >= self._options.part_seconds
            or directory != directory_of(now)
        )

    def _complete(self, directory: str) -> None:
        try:
            self._parts[directory].complete()
        except PartGone:
            self._forget(directory)
            raise
        del self._parts[directory]

    def _forget(self, directory: str) -> None:
        part = self._parts.pop(directory, None)
        if part is not None:
            self.lost["removed"] += part.rows
            part.close()
