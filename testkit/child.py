"""A child process that talks to the benchmark in lines of JSON.

    parent    Child("bench.feed.worker", url)     tell ──▶ stdin
    child     requests(), tell                    hear ◀── stdout

A line `{"progress": [done, total]}` may precede any answer. The child's stderr is passed through. A
child whose parent has ended reads the end of its stdin and exits.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from testkit import ROOT, Failed

END_SECONDS = 30

Message = dict[str, Any]


class ChildFailed(Failed):
    """A child ended unexpectedly."""

    def __init__(self, module: str, status: int) -> None:
        super().__init__(f"python -m {module} ended with status {status}")
        self.module = module
        self.status = status


class Child:
    """The parent's side; the child ends with the `with` block."""

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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close its stdin and wait; `ChildFailed` if it exits with an error."""
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
        """Send it a request."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def hear(self, progress: Callable[[int, int], None] = lambda done, total: None) -> Message:
        """Its next answer; `progress` is called with (done, total)."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            message: Message = json.loads(line)
            if "progress" not in message:
                return message
            progress(*message["progress"])
        raise ChildFailed(self.module, self._process.wait(END_SECONDS))


def tell(message: Message) -> None:
    """The child's side: send an answer."""
    print(json.dumps(message), flush=True)


async def requests() -> AsyncIterator[Message]:
    """The child's side: the parent's requests, until it closes the pipe."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)
