"""The analyst: a process beside a worker that parses and explains what is large.

    worker ── function, arguments ──▶ python -m campaigns.analyst_process      one at a time
           ◀── result or exception ──

All of that is Python. In a thread of the worker it would take the interpreter's lock from the
event loop, for milliseconds at a time, and matches would be late. What is small stays in a thread,
one at a time: a process would cost more than the work. `docs/decisions/0015-analyst.md` has the
figures.
"""

import asyncio
import logging
import pickle
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, TypeVar

from campaigns.errors import AnalysisFailed

log = logging.getLogger(__name__)

T = TypeVar("T")

SMALL = 1000
"""Characters of expressions that take about a millisecond."""

LONGEST_SECONDS = 60.0
"""On a busy machine; the process itself takes at most 10 s of CPU for an analysis."""

ATTEMPTS = 2

_LENGTH = struct.Struct("<Q")
_GONE = (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError)


class Analyst:
    """Runs functions outside of the event loop, and large ones outside of this process, which
    starts with the first of them and ends with the block."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "analyst")
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended = True  # whatever is being analysed, nobody waits for it any more
        await self._end(kill=True)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def run(self, size: int, function: Callable[..., T], *arguments: Any) -> T:
        """The result of a function of a module; `size` is that of the expressions in characters."""
        if size <= SMALL:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, function, *arguments)
        asking = asyncio.create_task(self._ask(pickle.dumps((function, arguments))))
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        # If the caller goes away, the answer must still be read.
        result: T = await asyncio.shield(asking)
        return result

    async def _ask(self, question: bytes) -> Any:
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
                await self._end(kill=True)
                break
            except _GONE:
                if not self._ended:
                    log.error("the analyst has ended; another one is started")
                await self._end(kill=True)
        raise AnalysisFailed

    async def _running(self) -> Process:
        if self._process is None:
            # -P: the current directory is not on the path.
            module = ("-P", "-m", "campaigns.analyst_process")
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *module, stdin=PIPE, stdout=PIPE
            )
        return self._process

    async def _end(self, kill: bool = False) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        if kill and process.returncode is None:
            process.kill()
        await process.wait()


async def _exchange(process: Process, question: bytes) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_LENGTH.pack(len(question)) + question)
    await process.stdin.drain()
    (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
    return await process.stdout.readexactly(length)
