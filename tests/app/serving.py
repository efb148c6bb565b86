"""`copse serve` as a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COPSE = Path(sys.executable).parent / "copse"
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass
class Served:
    """A running service: its address, and what it printed when it had started."""

    url: str
    process: subprocess.Popen[str]
    printed: list[str]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(*options: str, lines: int = 3, **environment: str) -> Iterator[Served]:
    """`copse serve` on a free port; `lines` are what it prints at the start."""
    process = subprocess.Popen(
        [COPSE, "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    assert process.stdout is not None
    try:
        logged: list[str] = []
        found = None
        while found is None:
            line = process.stdout.readline()
            assert line, "".join(logged)  # it has ended
            found = ADDRESS.search(line)
            logged.append(line)
        printed = [line, *(process.stdout.readline() for _ in range(lines - 1))]
        yield Served(found[0], process, printed)
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
