"""As many requests as a server takes: wrk, from Debian, which costs a tenth of what we measure."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = Path(__file__).with_name("rotate.lua")
_INSTALL = ("apt-get", "install", "-y", "-qq", "wrk")


class NoWrk(RuntimeError):
    """wrk is not there, or failed."""


@dataclass(frozen=True, slots=True)
class Driven:
    """What a run of wrk got: `failed` had no answer, `refused` had one of 400 or above."""

    requests: int
    seconds: float
    failed: int
    refused: int

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


def installed() -> str:
    """The path of wrk, installed where that is needed and possible."""
    if found := shutil.which("wrk"):
        return found
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoWrk(f"wrk is not installed: sudo {' '.join(_INSTALL)}")
    for command in (("apt-get", "update", "-qq"), _INSTALL):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoWrk(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    found = shutil.which("wrk")
    if found is None:
        raise NoWrk("wrk is installed, but nowhere to be found")
    return found


def drive(
    url: str, bodies: Path, token: str, seconds: int, connections: int, path: str = "/v1/match"
) -> Driven:
    """Send the bodies over and over, the next one on each connection that has its answer."""
    command = [installed(), "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(_SCRIPT)]
    done = subprocess.run(
        [*command, f"{url}{path}", "--", str(bodies), token],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise NoWrk(f"wrk failed:\n{done.stdout}{done.stderr}")
    return Driven(**json.loads(lines[0]))
