"""How the workers of one service ask each other: a socket for each in a directory of their own.

    run/                       mode 700
      w1.1763640000123.4711.sock         worker w1, started then, process 4711
      w2.1763640000150.4712.sock

    {"ask": "metrics"}\\n  ──▶  {"worker": "w1.1763640000123.4711", "answer": …}\\n

Whoever is asked by HTTP asks all, itself included, and puts the answers together. That takes a
bounded time: who has not answered by then is named among the silent.
"""

import asyncio
import os
import socket
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from pathlib import Path
from typing import Any, Self

import orjson

SUFFIX = ".sock"
LONGEST_PATH = 107
"""The kernel's limit for the path of a socket."""

_LONGEST_QUESTION = 4096
_LONGEST_ANSWER = 16 * 2**20


class UnsafeDirectory(PermissionError):
    """The directory of the sockets is somebody else's."""

    def __init__(self, directory: Path, owner: int) -> None:
        super().__init__(f"{directory} belongs to user {owner}, not to this process's")
        self.directory = directory
        self.owner = owner


class PathTooLong(OSError):
    """A socket cannot have such a long path."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is longer than {LONGEST_PATH} bytes: choose another directory")
        self.path = path


def prepare(directory: Path) -> None:
    """Make the directory, or make it private."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if found.st_uid != os.geteuid():
        raise UnsafeDirectory(directory, found.st_uid)
    if stat.S_IMODE(found.st_mode) != 0o700:
        directory.chmod(0o700)


class Peer:
    """One worker's ear, from entering to leaving: answers what it is asked.

    `answers` are functions by what is asked, or coroutines; they run on the event loop.
    """

    def __init__(
        self, directory: Path, worker: str, answers: Mapping[str, Callable[[], Any]]
    ) -> None:
        if "." in worker or "/" in worker:
            raise ValueError(f"a worker's name has no dot and no slash: {worker!r}")
        self.name = f"{worker}.{time.time_ns() // 1_000_000}.{os.getpid()}"
        self._directory = directory
        self._path = directory / (self.name + SUFFIX)
        self._answers = answers
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        if len(os.fsencode(self._path)) > LONGEST_PATH:
            raise PathTooLong(self._path)
        prepare(self._directory)
        for stale in self._directory.glob(f"*.{os.getpid()}{SUFFIX}"):
            if not _somebody_listens(stale):  # it is of a process that had our number
                stale.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(
            self._serve, self._path, limit=_LONGEST_QUESTION
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(5):
                writer.write(await self._answer(await reader.readline()))
                await writer.drain()
        except (OSError, TimeoutError, ValueError):
            pass  # the asker is gone, or none of us
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> bytes:
        said: dict[str, Any] = {"worker": self.name}
        try:
            answer = self._answers[orjson.loads(line)["ask"]]()
            said["answer"] = await answer if isawaitable(answer) else answer
            written = orjson.dumps(said)
        except Exception as error:  # the asker gets to know, this worker goes on
            written = orjson.dumps({"worker": self.name, "error": repr(error)})
        return written + b"\n"


@dataclass(frozen=True, slots=True)
class Answers:
    """What the workers said, by name, those that started first come first within one `worker`;
    `silent` are those that live and have not answered."""

    heard: dict[str, Any]
    silent: tuple[str, ...]


def worker_of(name: str) -> str:
    """What a worker was called by who started it."""
    return name.partition(".")[0]


def is_there(directory: Path, name: str) -> bool:
    """Whether there is a worker of this name, or at least its socket, which `ask_all` removes when
    its process is gone."""
    return (directory / (name + SUFFIX)).exists()


async def ask_all(directory: Path, what: str, timeout: float) -> Answers:
    """Ask every living worker at once. Sockets of processes that are gone are removed."""
    sockets = sorted(directory.glob(f"*{SUFFIX}"))
    said = await asyncio.gather(*(_ask(path, what, timeout) for path in sockets))
    heard: dict[str, Any] = {}
    silent: list[str] = []
    for path, (answered, answer) in zip(sockets, said, strict=True):
        if answered:
            heard[path.stem] = answer
        elif _process_lives(path):
            silent.append(path.stem)
        else:
            path.unlink(missing_ok=True)
    return Answers(heard, tuple(silent))


async def _ask(path: Path, what: str, timeout: float) -> tuple[bool, Any]:
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST_ANSWER)
            try:
                writer.write(orjson.dumps({"ask": what}) + b"\n")
                said = orjson.loads(await reader.readline())
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return False, None
    return "answer" in said, said.get("answer")


def _somebody_listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _process_lives(path: Path) -> bool:
    try:
        os.kill(int(path.stem.rpartition(".")[2]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True  # it is somebody else's, so the number is in use again
    return True
