"""Workers that ask each other."""

import asyncio
import os
import socket
import stat
import time
from pathlib import Path

import pytest

from app.workers.peers import (
    PathTooLong,
    Peer,
    UnsafeDirectory,
    ask_all,
    is_there,
    prepare,
    worker_of,
)
from tests.app.observability.metrics.workers import worker, workers


def test_all_that_live_answer(tmp_path: Path) -> None:
    with workers(tmp_path, 1, 2) as processes:
        answers = asyncio.run(ask_all(tmp_path, "status", 5))
        assert list(answers.heard.values()) == [{"count": 1}, {"count": 2}]
        assert [worker_of(name) for name in answers.heard] == ["w0", "w1"]
        assert answers.silent == ()
        assert all(is_there(tmp_path, name) for name in answers.heard)
        processes[0].kill()
        processes[0].wait()
        dead = next(iter(answers.heard))
        assert is_there(tmp_path, dead)
        answers = asyncio.run(ask_all(tmp_path, "status", 5))
        assert list(answers.heard.values()) == [{"count": 2}]
        assert answers.silent == ()
        assert not is_there(tmp_path, dead)
        processes[1].terminate()
        processes[1].wait()
    assert list(tmp_path.glob("*.sock")) == []


def test_who_does_not_answer_is_named_in_time(tmp_path: Path) -> None:
    with worker(tmp_path, "w0", 1), worker(tmp_path, "w1", 2, "--deaf"):
        started = time.monotonic()
        answers = asyncio.run(ask_all(tmp_path, "status", 0.3))
        assert time.monotonic() - started < 2
        assert list(answers.heard.values()) == [{"count": 1}]
        assert [worker_of(name) for name in answers.silent] == ["w1"]


async def test_what_cannot_be_answered_harms_nobody(tmp_path: Path) -> None:
    def broken() -> object:
        raise RuntimeError("broken")

    answers = {"broken": broken, "unwritable": object, "fine": lambda: 5}
    async with Peer(tmp_path, "w1", answers) as peer:
        for wrong in ("broken", "unwritable", "unknown"):
            said = await ask_all(tmp_path, wrong, 5)
            assert (said.heard, said.silent) == ({}, (peer.name,))
        for line in (b"\n", b"[]\n", b"{" * 100_000 + b"\n", b""):
            reader, writer = await asyncio.open_unix_connection(tmp_path / f"{peer.name}.sock")
            writer.write(line)
            writer.write_eof()
            assert b"answer" not in await reader.read()
            writer.close()
        assert (await ask_all(tmp_path, "fine", 5)).heard == {peer.name: 5}


async def test_a_long_answer_arrives(tmp_path: Path) -> None:
    async with Peer(tmp_path, "w1", {"long": lambda: "x" * 2_000_000}) as peer:
        heard = (await ask_all(tmp_path, "long", 5)).heard
        assert len(heard[peer.name]) == 2_000_000


async def test_a_socket_left_by_a_process_with_our_number_is_removed(tmp_path: Path) -> None:
    stale = tmp_path / f"w7.1.{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(stale))

    async with Peer(tmp_path, "w1", {}), Peer(tmp_path, "w2", {}):
        assert not stale.exists()
        assert len(list(tmp_path.glob("*.sock"))) == 2


def test_the_directory_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for directory in (tmp_path / "a" / "b", tmp_path):
        prepare(directory)
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    prepare(loose)
    assert stat.S_IMODE(loose.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(UnsafeDirectory, match="belongs to user"):
        prepare(loose)


def test_a_path_that_is_too_long_says_so(tmp_path: Path) -> None:
    async def enter() -> None:
        async with Peer(tmp_path / ("x" * 100), "w1", {}):
            pass

    with pytest.raises(PathTooLong, match="choose another directory"):
        asyncio.run(enter())


def test_the_name_of_a_worker_is_plain(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no dot"):
        Peer(tmp_path, "w.1", {})
