"""A wall clock that steps, for the processes that are started with it: a preloaded library of our
own (`clock.c`), so that the moment of a step is known exactly and only the wall clock steps."""

import struct
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).parent / "clock.c"


class NoCompiler(RuntimeError):
    """The library cannot be built; the message has what the compiler said."""


class Clock:
    """Off by 0 s at first."""

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
        """For the processes that are to go by this clock."""
        return {"LD_PRELOAD": str(self._library), "COPSE_CLOCK_FILE": str(self._file)}

    def step(self, seconds: int) -> None:
        """From now on be off by that much."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))
