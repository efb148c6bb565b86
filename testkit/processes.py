"""CPU and memory of processes, and their children, read from /proc."""

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_IDLE = (3, 4)
"""The fields of `cpu` in /proc/stat that are no work: idle, and waiting for disks."""


@dataclass(frozen=True, slots=True)
class Use:
    """One process: seconds of CPU so far and resident bytes now; seconds in which its first thread
    ran, and in which it was runnable but waited for a CPU."""

    cpu: float
    memory: int
    ran: float
    waited: float


def use_of(pid: int) -> Use | None:
    """None if the process has ended."""
    folder = Path("/proc") / str(pid)
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        resident = int((folder / "statm").read_text().split()[1]) * _PAGE
        ran, waited, _ = map(int, (folder / "schedstat").read_text().split())
    except (OSError, ValueError):
        return None
    return Use((int(fields[11]) + int(fields[12])) / _TICKS, resident, ran / 1e9, waited / 1e9)


def memory_of(pid: int) -> int:
    """Resident bytes of a live process."""
    used = use_of(pid)
    assert used is not None, f"process {pid} has ended"
    return used.memory


def share_of_memory(pid: int) -> int:
    """Resident bytes of a process, those that it shares with others divided among them: a process
    that has just forked does not count twice. 0 if it has ended."""
    try:
        text = (Path("/proc") / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(row.split()[1]) * 1024 for row in text.splitlines() if row[:4] == "Pss:"), 0)


def children_of(pid: int) -> list[int]:
    """The live child processes."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return sorted(found)


def family_of(pid: int) -> list[int]:
    """The process and all its live descendants."""
    return [pid, *(each for child in children_of(pid) for each in family_of(child))]


def machine_cpu() -> float:
    """Seconds of CPU that the machine has used so far, all cores together."""
    first = Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]
    return sum(int(ticks) for place, ticks in enumerate(first) if place not in _IDLE) / _TICKS
