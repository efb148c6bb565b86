"""One file of the log: written under a name that Spark ignores, renamed when it is complete.

    _part-w3-1763600000123-0.jsonl     being written by the process that has locked it
     part-w3-1763600000123-0.jsonl     complete

The kernel knows whether the writer of an unfinished file is still alive: the writer holds a `flock`
on it, which ends with the process, however that ends. A process id could belong to another process
by now, or to another container.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

UNFINISHED = "_"


class PartGone(OSError):
    """The file was removed while it was being written."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was removed while it was being written")
        self.path = path


class Part:
    """A file that is being written; it has whole lines, except while `append` runs."""

    def __init__(self, directory: Path, name: str, now: float) -> None:
        """Creates and locks the file, or raises `OSError`."""
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / (UNFINISHED + name)
        self.complete_path = directory / name
        self.opened = self.synced = now
        self.rows = 0
        self.size = 0
        self.dirty = False
        self._torn = False
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(self.path, flags, 0o640)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._check_exists()  # another worker may have adopted it just before the lock
        except OSError:
            os.close(self._fd)
            raise

    def append(self, lines: bytes, rows: int) -> None:
        """Write all lines or, with an `OSError`, none of them."""
        self._mend()
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError:
            self._torn = True
            self._mend()
            raise
        self.size += len(lines)
        self.rows += rows
        self.dirty = True

    def sync(self, now: float) -> None:
        """Sync the file to the disk."""
        os.fdatasync(self._fd)
        self.synced = now
        self.dirty = False

    def complete(self) -> None:
        """Sync the file and give it its final name; may be repeated after an `OSError`. An empty
        file is removed."""
        self._mend()
        if self.size:
            os.fsync(self._fd)
            self.path.rename(self.complete_path)
            sync_directory(self.path.parent)
        else:
            self.path.unlink()
        self.close()

    def close(self) -> None:
        """Close the file as it is; an incomplete one is a leftover from now on."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _mend(self) -> None:
        """Cut off a partial write; that needs no space, so it works on a full disk."""
        self._check_exists()
        if self._torn:
            os.ftruncate(self._fd, self.size)
            self._torn = False

    def _check_exists(self) -> None:
        if os.fstat(self._fd).st_nlink == 0:
            raise PartGone(self.path)


def sync_directory(directory: Path) -> None:
    """Make a rename in a directory durable; some file systems cannot, and need not."""
    with suppress(OSError):
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
