"""The counts of workers that have ended or do not answer: a counter must never fall.

Prometheus takes a counter that falls for a reset, and its whole value for new. A sum over workers
falls when one of them is replaced or too busy to answer. So every collection writes the answers to
one small file, and the sum is over the last answer of each worker:

    {"last": {"w1.1763640000123.4711": {"at": …, "dump": …}, …}     the last answer of each worker
     "retired": …                                                   the sum of those that have ended
     "gone": ["w2.1763640000150.4702", …]}                          the names of the latest of these

A worker that ends in order writes its final counts. After a crash, what it counted since its last
answer is lost.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from app.observability.metrics.merge import add_up
from app.observability.metrics.registry import Dump

_FILE = "counted.json"
_LOCK = "counted.lock"
_REMEMBERED = 200


class Ledger:
    """One file in a directory that only this service can read, for any number of processes.

    `lives` says whether the worker of a name still runs. A name is never used again. It reads and
    writes a file: call it from a thread.
    """

    def __init__(self, directory: Path, lives: Callable[[str], bool]) -> None:
        self._lives = lives
        self._file = directory / _FILE
        self._lock = directory / _LOCK

    def settle(self, heard: Mapping[str, Dump], at: float) -> list[Dump]:
        """Write the answers of a moment to the file, and return the dumps to add up."""
        with self._locked():
            book = self._read()
            for worker, dump in heard.items():
                known = book["last"].get(worker)
                if worker not in book["gone"] and (known is None or known["at"] <= at):
                    book["last"][worker] = {"at": at, "dump": dump}
            self._retire(book)
            self._write(book)
        return [book["retired"], *(last["dump"] for last in book["last"].values())]

    def _retire(self, book: dict[str, Any]) -> None:
        gone = [worker for worker in book["last"] if not self._lives(worker)]
        dumps = [book["last"].pop(worker)["dump"] for worker in gone]
        book["retired"] = add_up([book["retired"], *dumps])
        book["gone"] = [*book["gone"], *gone][-_REMEMBERED:]

    def _read(self) -> dict[str, Any]:
        try:
            book: dict[str, Any] = orjson.loads(self._file.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return {"last": {}, "retired": {}, "gone": []}
        return book

    def _write(self, book: dict[str, Any]) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_bytes(orjson.dumps(book))
        fresh.replace(self._file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fd = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)
