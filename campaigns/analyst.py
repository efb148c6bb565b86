"""The analyst: processes beside a worker that parse and explain expressions.

                                        ┌─ short: in the event loop, less than a millisecond
    worker ── function, arguments ──▶ ──┼─ ordinary ─▶ python -m campaigns.analyst_process
           ◀── result or exception ──   └─ long ─────▶ another one: the ordinary do not wait for it

All of that is Python. In a thread of the worker it would take the interpreter's lock from the
event loop, for milliseconds at a time, and matches would be late. `docs/decisions/0015-analyst.md`
has the figures.
"""

import asyncio
import logging
import pickle
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from typing import Any, Self, TypeVar

from campaigns.errors import AnalysisFailed

log = logging.getLogger(__name__)

T = TypeVar("T")

SHORT = 200
"""Characters of expressions that take less than a millisecond."""

ORDINARY = 2000
"""Characters of expressions that take some milliseconds."""

LONGEST_SECONDS = 60.0
"""On a busy machine; the process itself takes at most 10 s of CPU for an analysis."""

ATTEMPTS = 2

_LENGTH = struct.Struct("<Q")
_GONE = (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError)


class Analyst:
    """Runs functions outside of this process, unless they are short. The processes start with the
    first question and end with the block."""

    def __init__(self) -> None:
        self._ordinary = _Process()
        self._long = _Process()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for each in (self._ordinary, self._long):
            await each.end()

    async def run(self, size: int, function: Callable[..., T], *arguments: Any) -> T:
        """The result of a function of a module; `size` is that of the expressions in characters."""
        if size <= SHORT:
            await asyncio.sleep(0)  # a step of its own
            return function(*arguments)
        process = self._ordinary if size <= ORDINARY else self._long
        asking = asyncio.create_task(process.ask(pickle.dumps((function, arguments))))
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        # If the caller goes away, the answer must still be read.
        result: T = await asyncio.shield(asking)
        return result


class _Process:
    """One process, which answers one question at a time; if it dies, another one is started."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._ended = False

    async def end(self) -> None:
        """Whatever is being analysed, nobody waits for it any more."""
        self._ended = True
        await self._kill()

    async def ask(self, question: bytes) -> Any:
        """The result of the function in the question, or its exception."""
        async with self._turn:
            succeeded, result = await self._answer_to(question)
        if not succeeded:
            raise result
        return result

    async def _answer_to(self, question: bytes) -> tuple[bool, Any]:
        for _ in range(ATTEMPTS):
            if self._ended:
                break
            process = await self._running()
            try:
                async with asyncio.timeout(LONGEST_SECONDS):
                    answer: tuple[bool, Any] = pickle.loads(await _exchange(process, question))
                    return answer
            except TimeoutError:
                log.error("an analysis took more than %d s", LONGEST_SECONDS)
                await self._kill()
                break
            except _GONE:
                if not self._ended:
                    log.error("the analyst has ended; another one is started")
                await self._kill()
        raise AnalysisFailed

    async def _running(self) -> Process:
        if self._process is None:
            # -P: the current directory is not on the path.
            module = ("-P", "-m", "campaigns.analyst_process")
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *module, stdin=PIPE, stdout=PIPE
            )
        return self._process

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _exchange(process: Process, question: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_LENGTH.pack(len(question)) + question)
    await process.stdin.drain()
    (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
    return await process.stdout.readexactly(length)
