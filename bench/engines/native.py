"""The product's native core.

It is used below the facade, so that the JSON trees go in and nothing but matching is timed. What
it knows of the traffic are statistics over other events than those that are measured.
"""

import json
from collections.abc import Sequence
from time import perf_counter_ns

from bench.engines.engine import Item, Unavailable
from bench.statistics import statistics_of
from bench.workloads.workload import Event
from index.language import Limits, Schema
from index.native_backend import NativeBackend, native_module


class Native:
    """`index._native.Index`, with statistics over `seen` events if there are any."""

    cap: int | None = None

    def __init__(self, schema: Schema, seen: Sequence[Event] = (), guards: int = 2) -> None:
        module = native_module()
        if module is None:
            raise Unavailable("the native core is not built")
        self._index = NativeBackend(schema, Limits(), module, keep_trees=False).core
        self._index.limit_guards(guards)
        if seen:
            statistics = statistics_of(seen, schema)
            self._index.use_statistics(json.dumps(statistics).encode())

    def build(self, items: Sequence[Item]) -> None:
        """In bulk."""
        self._index.insert_many([(id, text.encode(), 0, None, None) for id, text in items])

    def insert(self, item: Item) -> None:
        """One JSON tree, online."""
        id, text = item
        self._index.insert(id, text.encode(), 0, None, None)

    def match_ns(self, events: Sequence[Event], rounds: int = 1) -> list[int]:
        """Timed inside."""
        written = [json.dumps(event).encode() for event in events]
        times, _, _ = self._index.time_matches(written * rounds)
        return times

    def touched(self, events: Sequence[Event]) -> list[int]:
        """Postings that each event looks at."""
        _, _, touched = self._index.time_matches([json.dumps(event).encode() for event in events])
        return touched

    def list_ns(self, events: Sequence[Event]) -> list[int]:
        """What a whole call takes, the reading of the event included, less the match itself."""
        whole = []
        written = [json.dumps(event).encode() for event in events]
        for event in written:
            started = perf_counter_ns()
            self._index.match_json(event, None, None)
            whole.append(perf_counter_ns() - started)
        inside, _, _ = self._index.time_matches(written)
        return [max(0, a - b) for a, b in zip(whole, inside, strict=True)]

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """One list for each event."""
        return [self._index.match_json(json.dumps(event).encode(), None, None) for event in events]

    def bytes_(self) -> int:
        """Everything that matching and updating need, without the trees as written."""
        parts: dict[str, int] = json.loads(self._index.stats())["bytes"]
        return sum(size for part, size in parts.items() if part != "trees_as_written")
