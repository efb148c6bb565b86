"""A description of the machine, for reports."""

import os
import platform
from pathlib import Path


def processor() -> str:
    """The model of the CPU."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def description() -> str:
    """Processor, cores, memory, system and Python version."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system, python = platform.system(), platform.python_version()
    return f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {system}, Python {python}"
