"""The run directory: where the workers of one service have their sockets.

Without a setting it is a temporary one. A process that was killed leaves it behind, so each start
removes those of processes that are gone.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.workers.peers import SUFFIX, is_alive, is_listening

_NAME = re.compile(r"copse-run-(\d+)-\w+")


@contextmanager
def run_directory(given: Path | None = None) -> Iterator[Path]:
    """The given directory, or a new one that is removed at the end."""
    if given is not None:
        yield given
        return
    remove_left_behind(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=f"copse-run-{os.getpid()}-") as made:
        yield Path(made)


def remove_left_behind(parent: Path) -> None:
    """Remove the run directories of this user whose processes are gone. A process that cannot be
    seen from here, in another container, still listens on its socket."""
    for directory in parent.glob("copse-run-*"):
        name = _NAME.fullmatch(directory.name)
        if name is None or is_alive(int(name[1])) or directory.is_symlink():
            continue
        try:
            is_ours = directory.stat().st_uid == os.geteuid()
        except OSError:
            continue  # another start removed it
        if is_ours and not any(map(is_listening, directory.glob(f"*{SUFFIX}"))):
            shutil.rmtree(directory, ignore_errors=True)
