"""Programs of Debian packages, installed where they are missing and we may install them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from testkit import Failed


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
    # RUNLEVEL=1: the package must not start a server.
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", package]):
        done = subprocess.run(
            ["apt-get", *command], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise NotInstalled(f"apt-get {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    if found := find():
        return found
    raise NotInstalled(f"{package} is installed, but its program cannot be found")
