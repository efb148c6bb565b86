"""How the workers of one service ask each other: each listens on a socket in a shared directory.

    run/                       mode 700
      w1.1763640000123.4711.sock         worker w1, started then, process 4711
      w2.1763640000150.4712.sock

    {"ask": "metrics"}\\n  ──▶  {"worker": "w1.1763640000123.4711", "answer": …}\\n

The worker that gets an HTTP request asks all workers, itself included, and combines the answers.
The time is bounded: workers that have not answered by then are listed as silent.
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
    """The directory of the sockets belongs to another user."""

    def __init__(self, directory: Path, owner: int) -> None:
        super().__init__(f"{directory} belongs to user {owner}, not to this process's user")
        self.directory = directory
        self.owner = owner


class PathTooLong(OSError):
    """The path of a socket is longer than the system allows."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is longer than {LONGEST_PATH} bytes: choose another directory")
        self.path = path


def prepare(directory: Path) -> None:
    """Create the directory, or make it private."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if found.st_uid != os.geteuid():
        raise UnsafeDirectory(directory, found.st_uid)
    if stat.S_IMODE(found.st_mode) != 0o700:
        directory.chmod(0o700)


class Peer:
    """Answers the questions of other workers while its block runs.

    `answers` has a function or coroutine for each question; they run on the event loop.
    """

    def __init__(
        self, directory: Path, worker: str, answers: Mapping[str, Callable[[], Any]]
    ) -> None:
        if "." in worker or "/" in worker:
            raise ValueError(f"a worker's name has no dot and no slash: {worker!r}")
        self.name = f"{worker}.{time.time_ns() // 1_000_000}.{os.getpid()}"
        self.directory = directory
        self._path = directory / (self.name + SUFFIX)
        self._answers = answers
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        if len(os.fsencode(self._path)) > LONGEST_PATH:
            raise PathTooLong(self._path)
        prepare(self.directory)
        for stale in self.directory.glob(f"*.{os.getpid()}{SUFFIX}"):
            if not is_listening(stale):  # it belongs to an earlier process with our pid
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
            pass  # the other side has disconnected, or is not a worker
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> bytes:
        reply: dict[str, Any] = {"worker": self.name}
        try:
            answer = self._answers[orjson.loads(line)["ask"]]()
            reply["answer"] = await answer if isawaitable(answer) else answer
            written = orjson.dumps(reply)
        except Exception as error:  # the other side gets the error, this worker goes on
            written = orjson.dumps({"worker": self.name, "error": repr(error)})
        return written + b"\n"


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers by the name of the worker; of two processes with the same `worker`, the older one
    comes first. `silent` are those that are alive and have not answered."""

    heard: dict[str, Any]
    silent: tuple[str, ...]


def worker_of(name: str) -> str:
    """The name that a worker was started with."""
    return name.partition(".")[0]


def is_there(directory: Path, name: str) -> bool:
    """Whether the socket of a worker exists; `ask_all` removes it when its process has ended."""
    return (directory / (name + SUFFIX)).exists()


async def ask_all(directory: Path, what: str, timeout: float) -> Answers:
    """Ask every worker at the same time, and remove the sockets of processes that have ended."""
    sockets = sorted(directory.glob(f"*{SUFFIX}"))
    replies = await asyncio.gather(*(_ask(path, what, timeout) for path in sockets))
    heard: dict[str, Any] = {}
    silent: list[str] = []
    for path, (answered, answer) in zip(sockets, replies, strict=True):
        if answered:
            heard[path.stem] = answer
        elif _is_alive(path):
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
                reply = orjson.loads(await reader.readline())
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return False, None
    return "answer" in reply, reply.get("answer")


def is_listening(path: Path) -> bool:
    """Whether a process listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def _is_alive(path: Path) -> bool:
    pid = path.stem.rpartition(".")[2]
    return pid.isdigit() and is_alive(int(pid))


def is_alive(pid: int) -> bool:
    """Whether there is a process with this pid."""
    try:
        os.kill(pid, 0)
    except (OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True  # another user's process has this pid now
    return True
