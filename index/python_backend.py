"""Entries and an engine, in Python: what serves the reference and the scan."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

from index.backend import Progress
from index.engine import Engine
from index.entry import Entry, best
from index.event import Event, check_event
from index.language.schema import Schema
from index.language.tree import Tree

_MAX_UNKNOWN = 1000
"""So many unknown attribute names are counted by name; the rest together."""


class PythonBackend:
    """Trees, scores and windows by id here, matching in an engine."""

    def __init__(self, schema: Schema, engine: Engine) -> None:
        self.name = engine.name
        self._schema = schema
        self._engine = engine
        self._entries: dict[int, Entry] = {}
        self._unknown: Counter[str] = Counter()

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        for done, (id, entry) in enumerate(items, 1):
            self._put(id, entry)
            if progress and (done % 1000 == 0 or done == len(items)):
                progress(done, len(items))

    def _put(self, id: int, entry: Entry) -> None:
        known = self._entries.get(id)
        if known is None or known.tree != entry.tree:
            if known is not None:
                self._engine.drop(id)
            self._engine.add(id, entry.tree)
        self._entries[id] = entry

    def remove(self, id: int) -> bool:
        if id not in self._entries:
            return False
        self._engine.drop(id)
        del self._entries[id]
        return True

    def match(self, event: Mapping[str, object], at: float | None) -> list[int]:
        return sorted(self._matching(event, at))

    def top(
        self, event: Mapping[str, object], limit: int, at: float | None
    ) -> tuple[list[int], int]:
        ids = list(self._matching(event, at))
        return best(ids, self._entries, limit), len(ids)

    def _matching(self, event: Mapping[str, object], at: float | None) -> Iterator[int]:
        found = self._engine.find(self._check(event))
        if at is None:
            return iter(found)
        return (id for id in found if self._entries[id].is_open(at))

    def _check(self, event: Mapping[str, object]) -> Event:
        checked, unknown = check_event(event, self._schema)
        for name in unknown:
            if name not in self._unknown and len(self._unknown) >= _MAX_UNKNOWN:
                name = ""
            self._unknown[name] += 1
        return checked

    def tree(self, id: int) -> Tree | None:
        entry = self._entries.get(id)
        return entry.tree if entry else None

    def plan(self, id: int) -> dict[str, object]:
        return self._engine.plan(id)

    def stats(self) -> dict[str, object]:
        return {
            "expressions": len(self._entries),
            "unknown_attributes": dict(self._unknown),
            **self._engine.stats(),
        }

    def check_invariants(self) -> None:
        self._engine.check_invariants()

    def use_statistics(self, statistics: bytes | None) -> None:
        """The thesis's ranking of operators is all that these engines use."""

    def save(self, path: str | PathLike[str]) -> None:
        raise NotSupported(f"the {self.name} engine keeps no snapshots")

    def load(self, path: str | PathLike[str]) -> None:
        raise NotSupported(f"the {self.name} engine keeps no snapshots")

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id: int) -> bool:
        return id in self._entries

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._entries))


class NotSupported(RuntimeError):
    """The engine in use cannot do this."""
