"""A disk that is full, and has room again."""

import subprocess
import sys
from pathlib import Path

from tests.faults.disk import Disk, small_disk

WRITE = """
import sys
for line in sys.stdin:
    try:
        with open(sys.argv[1], "ab", buffering=0) as file:
            file.write(bytes(65_536))
        print("written", flush=True)
    except OSError as error:
        print(error.strerror, flush=True)
"""


def tried(disk: Disk) -> list[str]:
    """The output of a process that writes before, during and after a full disk."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITE, disk.directory / "file"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said = []
        for change in (lambda _: None, disk.fill, disk.clear):
            change([process.pid])
            process.stdin.write("\n")
            process.stdin.flush()
            said.append(process.stdout.readline().strip())
        process.stdin.close()
    return said


def test_it_is_full_by_whatever_means_there_are(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        first, full, last = tried(disk)
    assert (first, last) == ("written", "written")
    assert full in ("No space left on device", "File too large")


def test_without_root_a_limit_makes_it_full(tmp_path: Path) -> None:
    assert tried(Disk(tmp_path, is_own=False)) == ["written", "File too large", "written"]
