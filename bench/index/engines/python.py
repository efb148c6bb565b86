"""The engines in Python: the scan (the oracle) and the reference.

Timed is the whole of `Index.match`, including the check of the event and the list of ids.
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
        """One by one; there is no bulk insert."""
        for item in items:
            self.insert(item)
        self._bytes = max(0, _resident() - self._before)

    def insert(self, item: Item) -> None:
        """Read the tree and insert it."""
        id, text = item
        self._index.insert(id, from_json(text, self._schema))

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed around `Index.match`."""
        times = []
        for event in events:
            started = thread_time_ns()
            self._index.match(event)
            times.append(thread_time_ns() - started)
        return times

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """The answers of `Index`."""
        return self._index.match_many(events)

    def bytes_(self) -> int:
        """Roughly: the growth of the process."""
        return self._bytes


def _resident() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * getpagesize()
