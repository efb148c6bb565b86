"""Signals to processes; whose child one is, and whose a connection: read from /proc."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROC = Path("/proc")


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; whether there was somebody."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def kill(pid: int | None) -> str:
    """Kill it, if it is there; what was done."""
    if pid is None or not send(pid, signal.SIGKILL):
        return "nobody there"
    return f"process {pid}"


@contextmanager
def stopped(pid: int | None) -> Iterator[str]:
    """Stop it for as long as the block runs. It may be dead by the end: whoever looks after it can
    lose patience."""
    if pid is None or not send(pid, signal.SIGSTOP):
        yield "nobody there"
        return
    try:
        yield f"process {pid}"
    finally:
        send(pid, signal.SIGCONT)


def children(pid: int) -> list[int]:
    """The processes that one has started and that are still its own."""
    with suppress(OSError):
        return [int(each) for each in (_PROC / f"{pid}/task/{pid}/children").read_text().split()]
    return []


def workers_of(pid: int) -> dict[int, int]:
    """The workers that a `copse serve` has started, by their numbers."""
    found = {}
    for child in children(pid):
        with suppress(OSError):
            command = (_PROC / f"{child}/cmdline").read_text()
            if number := re.search(r"app\.workers\.worker\0(?:.*\0)?--number=(\d+)", command):
                found[int(number[1])] = child
    return found


def owner_of(port: int, pids: list[int]) -> int | None:
    """Which of the processes has the connection that comes from a port."""
    inode = None
    for line in (_PROC / "net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) == port:
            inode = fields[9]
            break
    for pid in pids:
        with suppress(OSError):
            for file in (_PROC / f"{pid}/fd").iterdir():
                with suppress(OSError):
                    if os.readlink(file) == f"socket:[{inode}]":  # noqa: PTH115 (a socket is no path)
                        return pid
    return None
