"""Turns: at most a few requests do something at once; those that wait for others step aside.

async with turn(semaphore):        a request takes a turn …
    …
    async with stepping_aside():   … and lets others go first while it waits
        await long_work()
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

_held: ContextVar[asyncio.Semaphore | None] = ContextVar("turn", default=None)


@asynccontextmanager
async def turn(of: asyncio.Semaphore) -> AsyncIterator[None]:
    """Wait for a turn, and hold it."""
    async with of:
        token = _held.set(of)
        try:
            yield
        finally:
            _held.reset(token)


@asynccontextmanager
async def stepping_aside() -> AsyncIterator[None]:
    """Give the turn up for the block, if this task holds one."""
    held = _held.get()
    if held is None:
        yield
        return
    held.release()
    try:
        yield
    finally:
        await held.acquire()
