"""Maximum throughput of a server, with Debian's wrk: it needs a tenth of the CPU of a server."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from testkit import Failed
from testkit.debian import installed, which

_SCRIPT = Path(__file__).with_name("rotate.lua")


class WrkFailed(Failed):
    """wrk ended with an error; the message has its output."""


@dataclass(frozen=True, slots=True)
class Driven:
    """The result of a run; `failed` requests had no answer, `refused` ones a status >= 400."""

    requests: int
    seconds: float
    failed: int
    refused: int

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


def drive(
    url: str, bodies: Path, token: str, seconds: int, connections: int, path: str = "/v1/match"
) -> Driven:
    """Send the bodies again and again, the next one on each connection that has its answer."""
    command = [
        str(installed("wrk", lambda: which("wrk"))),
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
    ]
    done = subprocess.run(
        [*command, "-s", str(_SCRIPT), f"{url}{path}", "--", str(bodies), token],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise WrkFailed(f"wrk failed:\n{done.stdout}{done.stderr}")
    return Driven(**json.loads(lines[0]))
