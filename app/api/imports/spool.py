"""A queue of bytes that is never full: in memory while it is short, then in a file.

What answers a request while it still comes in must not wait for the other side to read: many
clients send everything before they read anything, and both would wait for ever.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

IN_MEMORY = 1024 * 1024
PIECE = 64 * 1024


class Spool:
    """Bytes that are written now and read when there is time, in the same order."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed below)
        self._written = 0
        self._read = 0
        self._ended = False
        self._more = asyncio.Event()

    def write(self, content: bytes) -> None:
        """Put bytes at the end."""
        self._file.seek(self._written)
        self._file.write(content)
        self._written += len(content)
        self._more.set()

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._more.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """What is written, until the end."""
        while True:
            while self._read < self._written:
                self._file.seek(self._read)
                piece = self._file.read(PIECE)
                self._read += len(piece)
                if self._read == self._written:
                    self._start_again()
                yield piece
            if self._ended:
                return
            self._more.clear()
            await self._more.wait()

    def _start_again(self) -> None:
        """All is read: the room can be used again."""
        self._file.seek(0)
        self._file.truncate()
        self._read = self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._file.close()
