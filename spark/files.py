"""Files of a log on a disk, which the workers open themselves.

    driver    the parts of all files ──▶ tasks of about equal size
    worker    the parts of its task ──▶ rows, by `line_files.py` or `parquet_files.py`

Spark would read them in the JVM and send each row to the worker. It does so where only Hadoop can
read the files, and for tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import Protocol

import pyarrow as pa

from spark.errors import FileError
from spark.transforms.arrow import Batches
from spark.transforms.rows import Rows


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file: it starts at a byte, or it is the row group of this number."""

    day: str
    path: str
    start: int
    size: int


class PartReader(Protocol):
    """Reads parts of files. Spark sends it to its workers."""

    def rows(self, part: Part) -> Iterator[Rows]:
        """The rows of a part."""


def divided(parts: Iterable[Part], fewest: int, task_size: int) -> list[list[Part]]:
    """The parts of each task: of about equal size, and for `fewest` tasks if there are enough."""
    ordered = sorted(parts, key=lambda part: (-part.size, part.path, part.start))
    wanted = sum(part.size for part in ordered) // task_size
    tasks: list[list[Part]] = [[] for _ in range(min(max(fewest, wanted), len(ordered)))]
    sizes = [(0, number) for number in range(len(tasks))]
    heapify(sizes)
    for part in ordered:  # the largest first, each to the task that has the least
        size, number = sizes[0]
        tasks[number].append(part)
        heapreplace(sizes, (size + part.size, number))
    return tasks


class FileReader:
    """Reads the parts of tasks; the batches that it gets from Spark have the numbers of tasks."""

    def __init__(self, tasks: Sequence[Sequence[Part]], reader: PartReader) -> None:
        self._tasks = tasks
        self._reader = reader

    def rows(self, batches: Batches) -> Iterator[Rows]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for part in self._tasks[number]:
                    yield from self._reader.rows(part)


@contextmanager
def named(path: str) -> Iterator[None]:
    """Errors say in which file they are."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path}: {error}") from error
