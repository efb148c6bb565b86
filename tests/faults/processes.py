"""Signals to processes, and the owners of connections (read from /proc)."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from testkit.processes import children_of

NONE = "no such process"
_PROC = Path("/proc")


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; returns whether the process existed."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def kill(pid: int | None) -> str:
    """Kill the process if it exists; returns a description."""
    if pid is None or not send(pid, signal.SIGKILL):
        return NONE
    return f"process {pid}"


@contextmanager
def stopped(pid: int | None) -> Iterator[str]:
    """Stop the process during the block. Its supervisor may kill it in the meantime."""
    if pid is None or not send(pid, signal.SIGSTOP):
        yield NONE
        return
    try:
        yield f"process {pid}"
    finally:
        send(pid, signal.SIGCONT)


def workers_of(pid: int) -> dict[int, int]:
    """The worker processes of a `copse serve`, by number."""
    found = {}
    for child in children_of(pid):
        with suppress(OSError):
            command = (_PROC / f"{child}/cmdline").read_text()
            if number := re.search(r"app\.workers\.worker\0(?:.*\0)?--number=(\d+)", command):
                found[int(number[1])] = child
    return found


def owner_of(port: int | None, pids: list[int]) -> int | None:
    """Which of the processes owns the connection from this local port of its host."""
    for pid in pids:
        with suppress(OSError):
            inodes = set()
            for line in (_PROC / f"{pid}/net/tcp").read_text().splitlines()[1:]:
                fields = line.split()
                if int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(f"socket:[{fields[9]}]")
            for file in (_PROC / f"{pid}/fd").iterdir():
                with suppress(OSError):
                    if os.readlink(file) in inodes:  # noqa: PTH115 (a socket is no path)
                        return pid
    return None
