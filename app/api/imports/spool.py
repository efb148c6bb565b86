"""An unbounded queue of bytes: in memory while it is short, then in a file.

A service that answers while the request is still being sent must not wait for the client to read:
many clients send everything before they read anything, and both would wait for ever.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Self

IN_MEMORY = 1024 * 1024
PIECE = 64 * 1024


class Spool:
    """Bytes that are written now and read later, in the same order."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed below)
        self._written = 0
        self._read = 0
        self._ended = False
        self._more = asyncio.Event()

    def write(self, content: bytes) -> None:
        """Append bytes."""
        self._file.seek(self._written)
        self._file.write(content)
        self._written += len(content)
        self._more.set()

    def end(self) -> None:
        """No more bytes will be written."""
        self._ended = True
        self._more.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """The bytes in pieces, until the end."""
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
        """Everything is read: use the space again."""
        self._file.seek(0)
        self._file.truncate()
        self._read = self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
