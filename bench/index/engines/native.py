"""The product's native core.

It is used below the facade, so that only matching is timed. What it knows about the traffic comes
from other events than those that are measured.
"""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal

from bench.index.engines.engine import Item, Unavailable
from index.backends.native import NativeBackend, native_module
from index.language import Limits, Schema
from index.query import Query
from testkit.statistics import statistics_of
from testkit.workloads.workload import Event

Knows = Literal["statistics", "counting", "ranking"]
"""What plans are based on: statistics of events, the core's own count of them, or neither."""

_COUNTED = 4 * 4096
"""The core samples one event in 64 and keeps 256; it adds 64 before it plans again."""


LIMIT = 10
"""How many of the best matches `top_ns` asks for."""


def _score(id: int) -> int:
    """A score without relation to the id, as priorities and bids are."""
    return id * 0x9E3779B1 % 2**32


class Native:
    """`index._native.Index`. `tuning` changes choices of the core by name; `document` is passed to
    `use_statistics`."""

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
        """Let the index count events, shuffled, since it samples one in 64. This comes after the
        build: the index distinguishes only strings that its expressions use."""
        written = [json.dumps(event).encode() for event in seen]
        drawn = Random("counted").choices(written, k=_COUNTED)
        for first in range(0, _COUNTED, _COUNTED // 4):
            self._index.time_matches(drawn[first : first + _COUNTED // 4])
            self._index.replan()

    def build(self, items: Sequence[Item]) -> None:
        """Insert in bulk."""
        self._index.insert_many([(id, text.encode(), _score(id)) for id, text in items])

    def insert(self, item: Item) -> None:
        """Insert one JSON tree."""
        id, text = item
        self._index.insert(id, text.encode(), _score(id))

    def match_ns(self, events: Sequence[Event]) -> list[int]:
        """Timed inside the core."""
        if self._to_count:
            self._count(self._to_count)
            self._to_count = ()
        written = [json.dumps(event).encode() for event in events]
        times, _, _ = self._index.time_matches(written)
        return times

    def top_ns(self, events: Sequence[Event]) -> list[int]:
        """The same for the best `LIMIT` matches."""
        times, _, _ = self._index.time_matches([json.dumps(e).encode() for e in events], LIMIT)
        return times

    def touched(self, events: Sequence[Event]) -> list[int]:
        """Number of postings that each event touches."""
        _, _, touched = self._index.time_matches([json.dumps(event).encode() for event in events])
        return touched

    def answers(self, events: Sequence[Event]) -> list[list[int]]:
        """One list for each event."""
        return [self._index.ask(json.dumps(event).encode(), Query()).ids for event in events]

    def bytes_(self) -> int:
        """Everything that matching and updating need, without the original trees."""
        parts: dict[str, int] = json.loads(self._index.stats())["bytes"]
        return sum(size for part, size in parts.items() if part != "trees_as_written")
