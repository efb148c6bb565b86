"""The engines in Python: the scan that is the oracle, and the reference.

What they are timed for is the whole of `Index.match`, the checking of the event and the list of
ids included: there is nothing inside to time apart.
"""

from collections.abc import Sequence
from pathlib import Path
from resource import getpagesize
from time import thread_time_ns

from bench.index.engines.engine import Item
from index import Index
from index.language import Schema, from_json
from testkit.workloads.workload import Event


class PythonEngine:
    """`Index` with one of its Python engines."""

    cap: int | None = 10_000

    def __init__(self, schema: Schema, engine: str) -> None:
        self._schema = schema
        self._index = Index(schema, engine=engine)
        self._before = _resident()
        self._bytes = 0

    def build(self, items: Sequence[Item]) -> None:
        """One by one: there is no other way."""
        for item in items:
            self.insert(item)
        self._bytes = max(0, _resident() - self._before)

    def insert(self, item: Item) -> None:
        """Read the tree and insert it."""
        id, text = item
        self._index.insert(id, from_json(text, self._schema))

    def match_ns(self, events: Sequence[Event], rounds: int = 1) -> list[int]:
        """Timed around `Index.match`."""
        times = []
        for event in [*events] * rounds:
            started = thread_time_ns()
            self._index.match(event)
            times.append(thread_time_ns() - started)
        return times

    def list_ns(self, events: Sequence[Event]) -> None:
        """It is part of `match_ns`."""
        return

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """As `Index` gives them."""
        return self._index.match_many(events)

    def bytes_(self) -> int:
        """What the process grew by, roughly."""
        return self._bytes


def _resident() -> int:
    """Bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()
