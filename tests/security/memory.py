"""How much memory a process holds."""

from pathlib import Path


def resident_bytes(pid: int) -> int:
    """What of a process is in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"process {pid} is gone")
