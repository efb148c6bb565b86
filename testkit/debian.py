"""Programs of Debian packages, installed where they are missing and we may install them."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from testkit import Failed

LOCK = Path(tempfile.gettempdir()) / "copse-apt-get.lock"
PATIENCE_SECONDS = 300


class NotInstalled(Failed):
    """A package is missing; the message names the command that installs it."""


def which(command: str) -> Path | None:
    """The path of a command, if it is installed."""
    found = shutil.which(command)
    return Path(found) if found else None


def installed(package: str, find: Callable[[], Path | None]) -> Path:
    """What `find` returns, after installing `package` where that is necessary and possible."""
    if found := find():
        return found
    if os.geteuid() != 0 or which("apt-get") is None:
        raise NotInstalled(f"{package} is not installed: sudo apt-get install -y {package}")
    with _one_at_a_time():
        if found := find():
            return found
        _apt_get("update", "-qq")
        _apt_get("install", "-y", "-qq", package)
    if found := find():
        return found
    raise NotInstalled(f"{package} is installed, but its program cannot be found")


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Test processes wait for each other: apt-get fails if another one is running."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _apt_get(*arguments: str) -> None:
    """Run apt-get; while somebody else's is running, wait and try again."""
    # RUNLEVEL=1: the package must not start a server.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        command = ["apt-get", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        if "Could not get lock" not in done.stderr or time.monotonic() > end:
            raise NotInstalled(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        time.sleep(1)
