"""Workers in processes of their own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[4]

Process = subprocess.Popen[str]


@contextmanager
def worker(directory: Path, name: str, count: int, *more: str) -> Iterator[Process]:
    """Listens when this is entered, and is gone when it is left."""
    module = "tests.app.observability.metrics.process"
    command = [sys.executable, "-m", module, str(directory), name, str(count), *more]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@contextmanager
def workers(directory: Path, *counts: int) -> Iterator[list[Process]]:
    """Workers w0, w1, …, each of which has counted so many requests."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(worker(directory, f"w{number}", count))
            for number, count in enumerate(counts)
        ]
