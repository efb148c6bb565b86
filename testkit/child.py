"""A process of its own, and the lines of JSON in which it and the benchmark talk.

    parent    Child("bench.feed.worker", url)     tell ──▶ stdin
    child     requests(), tell                    hear ◀── stdout

A line `{"progress": [done, total]}` may come before any answer. What a child prints on stderr is
seen as it is; a child whose parent is gone reads the end of its stdin and ends.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self

from testkit import ROOT

END_SECONDS = 30

Message = dict[str, Any]


class ChildFailed(RuntimeError):
    """A child ended in the middle of the conversation."""

    def __init__(self, module: str, status: int) -> None:
        super().__init__(f"python -m {module} ended with status {status}")
        self.module = module
        self.status = status


class Child:
    """The parent's side; the child ends with the block."""

    def __init__(self, module: str, *arguments: object) -> None:
        self.module = module
        self.spawned_at = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        """It ends by itself when nobody asks any more; `ChildFailed` if not in peace."""
        if kind is not None:
            self._process.kill()
        try:
            self._process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        if kind is None and self._process.returncode != 0:
            raise ChildFailed(self.module, self._process.returncode)

    def tell(self, message: Message) -> None:
        """Ask it for something."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def hear(self, progress: Callable[[int, int], None] = lambda done, total: None) -> Message:
        """Its next answer."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            message: Message = json.loads(line)
            if "progress" not in message:
                return message
            progress(*message["progress"])
        raise ChildFailed(self.module, self._process.wait(END_SECONDS))


def tell(message: Message) -> None:
    """The child's side: an answer."""
    print(json.dumps(message), flush=True)


async def requests() -> AsyncIterator[Message]:
    """The child's side: what the parent asks for, until it closes its end."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)
