"""Leftovers of killed workers: unfinished parts that nobody writes any more.

They are cut to whole lines and renamed, so that their rows are read.
"""

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path

import orjson

from app.observability.impressions.part import UNFINISHED, sync_directory

log = logging.getLogger(__name__)

_BLOCK = 64 * 2**10
"""Bytes that are read at a time, from the end."""


def adopt(root: Path) -> int:
    """Complete the parts below a directory whose writers have ended; returns their number."""
    adopted = 0
    for path in sorted(root.glob(f"dt=*/hour=*/{UNFINISHED}part-*.jsonl")):
        try:
            adopted += _adopt(path)
        except OSError as error:
            log.warning("cannot complete the leftover of a killed worker, %s: %s", path, error)
    return adopted


def _adopt(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_nlink:  # no other worker was faster
                return _finish(fd, path)
        return False
    finally:
        os.close(fd)


def _finish(fd: int, path: Path) -> bool:
    size = os.fstat(fd).st_size
    whole = whole_lines(fd, size)
    if whole == 0:
        path.unlink()
        return False
    if whole < size:
        os.ftruncate(fd, whole)
    os.fsync(fd)
    path.rename(path.with_name(path.name.removeprefix(UNFINISHED)))
    sync_directory(path.parent)
    return True


def whole_lines(fd: int, size: int) -> int:
    """The length up to which a file has whole lines, the last of which is JSON: after a power cut
    the end of a file may be anything, mostly zeros."""
    end = _line_start(fd, size)
    while end:
        start = _line_start(fd, end - 1)
        if _is_json(os.pread(fd, end - start, start)):
            return end
        end = start
    return 0


def _line_start(fd: int, end: int) -> int:
    """The start of the line that `end` is in: after the last line feed before it."""
    while end:
        start = max(0, end - _BLOCK)
        at = os.pread(fd, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True
