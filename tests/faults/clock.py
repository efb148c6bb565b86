"""A wall clock that can step, for the processes started with it. It is a preloaded library
(`clock.c`), so the time of a step is known exactly and only the wall clock changes."""

import struct
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).parent / "clock.c"


class NoCompiler(RuntimeError):
    """The library cannot be built; the message is the compiler's output."""


class Clock:
    """A clock with an offset, initially 0 s."""

    def __init__(self, directory: Path) -> None:
        self._library = directory / "clock.so"
        self._file = directory / "clock"
        self._file.write_bytes(struct.pack("=q", 0))
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(self._library), str(_SOURCE)]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise NoCompiler(built.stderr)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the processes that use this clock."""
        return {"LD_PRELOAD": str(self._library), "FAULTS_CLOCK_FILE": str(self._file)}

    def step(self, seconds: int) -> None:
        """Set the offset."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))
