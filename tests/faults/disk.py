"""A small disk for the impression log, which a fault can fill.

As root it is a separate tmpfs (`ENOSPC`, as on a full disk). Otherwise, or where nothing may be
mounted, it is a directory, and full means that the workers may write no file (`RLIMIT_FSIZE`, which
gives `EFBIG`).
"""

import os
import resource
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

MEGABYTES = 64
_PIECE = 2**20


class Disk:
    """A directory; `fill` uses up its space, `clear` frees it."""

    def __init__(self, directory: Path, is_own: bool) -> None:
        self.directory = directory
        self.means = f"a tmpfs of {MEGABYTES} MB" if is_own else "RLIMIT_FSIZE"
        self._is_own = is_own
        self._ballast = directory / "ballast"

    def fill(self, pids: Iterable[int]) -> None:
        if not self._is_own:
            _limit(pids, 0)
            return
        with self._ballast.open("wb", buffering=0) as file:
            piece = bytes(_PIECE)
            while piece:
                try:
                    file.write(piece)
                except OSError:
                    piece = piece[: len(piece) // 2]

    def clear(self, pids: Iterable[int]) -> None:
        if self._is_own:
            self._ballast.unlink(missing_ok=True)
        else:
            _limit(pids, resource.RLIM_INFINITY)


def _limit(pids: Iterable[int], size: int) -> None:
    for pid in pids:
        try:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        except ProcessLookupError:
            continue


@contextmanager
def small_disk(directory: Path) -> Iterator[Disk]:
    """A disk at a new directory, for as long as the block runs."""
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "copse-faults", str(directory)]
    mounted = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True).returncode
    try:
        yield Disk(directory, mounted)
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(directory)], check=True)
