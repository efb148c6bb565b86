"""No run directory is left behind for long."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.workers.peers import SUFFIX
from app.workers.run_directory import remove_left_behind, run_directory

KILLED = """
import os, signal
from app.workers.run_directory import run_directory
with run_directory() as directory:
    print(directory, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_directory_of_a_killed_process_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLED]
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    left = Path(killed.stdout.strip())
    assert left.is_dir()
    with run_directory() as ours:
        assert not left.exists()
        assert ours.is_dir()
        remove_left_behind(tmp_path)
        assert ours.is_dir()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def short_path() -> Iterator[Path]:
    """The path of a socket has at most 108 bytes; `tmp_path` can be longer than that."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def test_a_directory_where_somebody_listens_stays(short_path: Path) -> None:
    elsewhere = short_path / "copse-run-999999999-container"
    elsewhere.mkdir()
    (short_path / "copse-run-notes").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(elsewhere / f"w0.1.1{SUFFIX}"))
        listener.listen()
        remove_left_behind(short_path)
        assert elsewhere.is_dir()
    remove_left_behind(short_path)
    assert [left.name for left in short_path.iterdir()] == ["copse-run-notes"]
