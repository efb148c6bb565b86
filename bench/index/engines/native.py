"""The product's native core.

It is used below the facade, so that the JSON trees go in and nothing but matching is timed. What
it knows of the traffic comes from other events than those that are measured.
"""

import json
from collections.abc import Mapping, Sequence
from random import Random
from time import thread_time_ns
from typing import Literal

from bench.index.engines.engine import Item, Unavailable
from index.backends.native import NativeBackend, native_module
from index.language import Limits, Schema
from index.query import Query
from testkit.statistics import statistics_of
from testkit.workloads.workload import Event

Knows = Literal["statistics", "counting", "ranking"]
"""What steers: statistics over the events seen, the core's own count of them, or neither."""

_COUNTED = 4 * 4096
"""The core samples one event in 64 and keeps 256; it takes 64 in before it plans again."""


class Native:
    """`index._native.Index`. `tuning` takes choices of the core away, by their names; a `document`
    is what `use_statistics` takes, made elsewhere."""

    cap: int | None = None

    def __init__(
        self,
        schema: Schema,
        seen: Sequence[Event] = (),
        knows: Knows = "statistics",
        tuning: Mapping[str, int] | None = None,
        document: Mapping[str, object] | None = None,
    ) -> None:
        module = native_module()
        if module is None:
            raise Unavailable("the native core is not built")
        self._index = NativeBackend(schema, Limits(), module, keep_trees=False).core
        for name, value in (tuning or {}).items():
            self._index.tune(name, value)
        if seen and knows == "statistics":
            statistics = statistics_of(seen, schema)
            self._index.use_statistics(json.dumps(statistics).encode())
        if document is not None:
            self._index.use_statistics(json.dumps(document).encode())
        self._to_count = seen if knows == "counting" else ()

    def _count(self, seen: Sequence[Event]) -> None:
        """Let the index see events, in an order of their own, since one in 64 counts. That is
        after the build: it tells only those strings apart that its expressions name."""
        written = [json.dumps(event).encode() for event in seen]
        drawn = Random("counted").choices(written, k=_COUNTED)
        for first in range(0, _COUNTED, _COUNTED // 4):
            self._index.time_matches(drawn[first : first + _COUNTED // 4])
            self._index.replan()

    def build(self, items: Sequence[Item]) -> None:
        """In bulk."""
        self._index.insert_many([(id, text.encode(), 0, None, None) for id, text in items])

    def insert(self, item: Item) -> None:
        """One JSON tree, online."""
        id, text = item
        self._index.insert(id, text.encode(), 0, None, None)

    def match_ns(self, events: Sequence[Event], rounds: int = 1) -> list[int]:
        """Timed inside."""
        if self._to_count:
            self._count(self._to_count)
            self._to_count = ()
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
            started = thread_time_ns()
            _ = self._index.ask(event, Query()).ids
            whole.append(thread_time_ns() - started)
        inside, _, _ = self._index.time_matches(written)
        return [max(0, a - b) for a, b in zip(whole, inside, strict=True)]

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """One list for each event."""
        return [self._index.ask(json.dumps(event).encode(), Query()).ids for event in events]

    def bytes_(self) -> int:
        """Everything that matching and updating need, without the trees as written."""
        parts: dict[str, int] = json.loads(self._index.stats())["bytes"]
        return sum(size for part, size in parts.items() if part != "trees_as_written")
