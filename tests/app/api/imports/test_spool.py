"""A queue of bytes that is never full."""

import asyncio

import pytest

from app.api.imports.spool import IN_MEMORY, Spool


async def read(spool: Spool) -> bytes:
    return b"".join([piece async for piece in spool.pieces()])


@pytest.mark.parametrize("size", [0, 1, 100_000, 3 * IN_MEMORY])
async def test_what_is_written_is_read(size: int) -> None:
    content = bytes(n % 251 for n in range(1000)) * (size // 1000 + 1)
    with Spool() as spool:
        for start in range(0, size, 70_001):
            spool.write(content[start : min(size, start + 70_001)])
        spool.end()
        assert await read(spool) == content[:size]


async def test_writer_and_reader_take_turns() -> None:
    with Spool() as spool:
        reading = asyncio.create_task(read(spool))
        for n in range(200):
            spool.write(b"%d," % n)
            if n % 7 == 0:
                await asyncio.sleep(0)
        spool.end()
        assert await reading == b"".join(b"%d," % n for n in range(200))
