"""Missing packages are installed once, whoever else is installing."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from testkit import debian

APT_GET = """#!/bin/sh
cd {directory}
mkdir lock 2>/dev/null || {{ echo "E: Could not get lock" >&2; exit 100; }}
echo "$1" >> log
sleep 0.1
[ "$1" = update ] || touch program
rmdir lock
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an apt-get leaves its program, which fails like the real one beside another."""
    command = tmp_path / "apt-get"
    command.write_text(APT_GET.format(directory=tmp_path))
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian, "LOCK", tmp_path / "one.lock")
    return tmp_path


def program(directory: Path) -> Path:
    def find() -> Path | None:
        found = directory / "program"
        return found if found.exists() else None

    return debian.installed("package", find)


def test_processes_that_miss_the_same_package_install_it_once(directory: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(program, [directory] * 4))
    assert found == {directory / "program"}
    assert (directory / "log").read_text().split() == ["update", "install"]


def test_an_apt_get_of_somebody_else_is_waited_for(directory: Path) -> None:
    (directory / "lock").mkdir()
    threading.Timer(0.5, (directory / "lock").rmdir).start()
    assert program(directory) == directory / "program"
