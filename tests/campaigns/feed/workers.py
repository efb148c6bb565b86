"""Workers in processes of their own, to be stopped and killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.campaigns.feed.writing import Writer

ROOT = Path(__file__).parents[3]

Process = subprocess.Popen[bytes]


@contextmanager
def worker(*arguments: str | Path, directory: Path = ROOT) -> Iterator[Process]:
    """A worker with the packages of a directory; it does not end by itself."""
    command = [sys.executable, "-m", "tests.campaigns.feed.process", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, env=os.environ)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


async def until_at(process: Process, writer: Writer, seconds: float = 20) -> None:
    """Wait until the process says that it holds what the database holds."""
    truth = list(await writer.truth())
    assert process.stdout is not None
    async with asyncio.timeout(seconds):
        while json.loads(await asyncio.to_thread(process.stdout.readline)) != truth:
            pass


async def until_dead(process: Process, seconds: float = 20) -> None:
    """Wait until the process was killed, by itself."""
    assert await asyncio.to_thread(process.wait, seconds) == -signal.SIGKILL
