"""Entries and an engine in Python: the reference or the scan."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

from index.backends.backend import Attributes, NotSupported, Progress
from index.digest import digest_of, term
from index.entry import Entry
from index.event import Event, EventError, EventProblem, check_event, read_event
from index.language.calls import calls_of
from index.language.json_form import to_json
from index.language.limits import Limits
from index.language.schema import Attribute, Schema
from index.language.tree import Tree
from index.matches import PythonMatches
from index.query import Exclude, Query
from index.rows import Row, read_row
from index.score import bid_of

_MAX_UNKNOWN = 1000
"""This many unknown attribute names are counted by name, the rest together under `""`."""


class PythonEngine(Protocol):
    """Finds the ids of expressions. Scores, windows, groups and labels are up to the backend."""

    name: str

    def add(self, id: int, tree: Tree, schema: Schema) -> None:
        """Index an expression under a free id. Raises before it changes anything."""

    def drop(self, id: int) -> None:
        """Remove an id, which is there."""

    def find(self, event: Event) -> Iterable[int]:
        """The ids whose expressions a checked event makes true, or could with results of calls,
        each once, in no order."""

    def plan(self, id: int) -> dict[str, object]:
        """How `find` looks for an expression."""

    def stats(self) -> dict[str, object]:
        """Sizes and counts."""

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the engine is inconsistent."""


class PythonBackend:
    """Entries by id, and an engine that finds the ids."""

    def __init__(self, schema: Schema, limits: Limits, engine: PythonEngine) -> None:
        self.name = engine.name
        self._schema = schema
        self._limits = limits
        self._engine = engine
        self._entries: dict[int, Entry] = {}
        self._pending: set[int] = set()
        self._muted: set[int] = set()
        self._digest = 0
        self._unknown: Counter[str] = Counter()

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        for done, (id, entry) in enumerate(items, 1):
            self._put(id, entry)
            if progress and (done % 1000 == 0 or done == len(items)):
                progress(done, len(items))

    def put_json(self, rows: list[Row], progress: Progress | None) -> None:
        read = [
            read_row(position, row, self._schema, self._limits) for position, row in enumerate(rows)
        ]
        self.put_many(read, progress)

    def _put(self, id: int, entry: Entry) -> None:
        known = self._entries.get(id)
        if known is None or known.tree != entry.tree:
            if known is not None:
                self._engine.drop(id)
            self._engine.add(id, entry.tree, self._schema)
            if calls_of(entry.tree):
                self._pending.add(id)
            else:
                self._pending.discard(id)
        if known is not None:
            self._digest -= term(id, known.version)
        self._digest += term(id, entry.version)
        self._entries[id] = entry

    def remove(self, id: int) -> bool:
        if id not in self._entries:
            return False
        self._engine.drop(id)
        self._pending.discard(id)
        self._digest -= term(id, self._entries.pop(id).version)
        return True

    def mute(self, group: int) -> bool:
        fresh = group not in self._muted
        self._muted.add(group)
        return fresh

    def unmute(self, group: int) -> bool:
        muted = group in self._muted
        self._muted.discard(group)
        return muted

    def muted(self) -> set[int]:
        return set(self._muted)

    def add_attribute(self, attribute: Attribute, schema: Schema) -> None:
        self._schema = schema

    def use_schema(self, schema: Schema) -> None:
        self._schema = schema

    def digest(self) -> int:
        return self._digest % 2**64

    def ask(self, event: Attributes, query: Query | None = None) -> PythonMatches:
        query = query or Query()
        checked = self._check(read_event(event) if isinstance(event, bytes) else event)
        if query.builtins:
            _refuse_builtins(checked, query.builtins)
            checked |= self._check(query.builtins)
        passes = self._filter(query)
        ids = [id for id in self._engine.find(checked) if passes(id)]
        total = len(ids) if query.total else None
        if query.limit is None:
            ids.sort()
            return PythonMatches(ids, None, total, self._pending_of(ids))
        entries = self._entries
        best = heapq.nsmallest(query.limit, ids, key=lambda id: (-entries[id].score, id))
        scores = [entries[id].score for id in best]
        pending = self._pending_of(sorted(ids) if query.total else best)
        return PythonMatches(best, scores, total, pending)

    def _pending_of(self, ids: list[int]) -> list[int]:
        return [id for id in ids if id in self._pending] if self._pending else []

    def _filter(self, query: Query) -> Callable[[int], bool]:
        """Whether a matching id passes the filters of a query."""
        exclude = query.exclude or Exclude()
        ids = frozenset(exclude.ids)
        groups = self._muted.union(exclude.groups) - {0}
        labels = frozenset(exclude.labels)
        within = None if exclude.within is None else frozenset(exclude.within)

        def passes(id: int) -> bool:
            entry = self._entries[id]
            return (
                (query.at is None or entry.is_open(query.at))
                and id not in ids
                and entry.group not in groups
                and not entry.has_label(labels)
                and (within is None or entry.is_within(within))
                and bid_of(entry.score) >= query.floor
            )

        return passes

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

    def tree_json(self, id: int) -> str | None:
        tree = self.tree(id)
        return None if tree is None else to_json(tree)

    def origin(self, id: int) -> tuple[int, int]:
        entry = self._entries.get(id)
        return (entry.group, entry.version) if entry else (0, 0)

    def labels(self, id: int) -> list[str]:
        entry = self._entries.get(id)
        return sorted(set(entry.labels)) if entry else []

    def plan(self, id: int) -> dict[str, object]:
        return self._engine.plan(id)

    def usage(self) -> dict[str, Any]:
        return {"unknown_attributes": dict(self._unknown)}

    def stats(self) -> dict[str, object]:
        labels = (entry.labels for entry in self._entries.values())
        return {
            "expressions": len(self._entries),
            "groups": len({entry.group for entry in self._entries.values()} - {0}),
            "muted_groups": len(self._muted),
            "label_sets": len({*map(frozenset, labels)} - {frozenset()}),
            "unknown_attributes": dict(self._unknown),
            **self._engine.stats(),
        }

    def check_invariants(self) -> None:
        self._engine.check_invariants()
        versions = ((id, entry.version) for id, entry in self._entries.items())
        assert self.digest() == digest_of(versions), "the digest does not match the entries"
        assert 0 not in self._muted, "group 0 is muted"

    def use_statistics(self, statistics: bytes | None) -> None:
        """Ignored: these engines use only the thesis's ranking of operators."""

    def replan(self, progress: Progress | None = None) -> None:
        """Ignored: these engines sample no events."""

    def sampled(self) -> tuple[int, int, float]:
        return 0, 0, 0.0

    def save(self, path: str | PathLike[str]) -> None:
        raise NotSupported(f"the {self.name} engine keeps no snapshots")

    def load(self, path: str | PathLike[str]) -> None:
        raise NotSupported(f"the {self.name} engine keeps no snapshots")

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id: int) -> bool:
        return id in self._entries

    def ids(self, multiples_of: int = 1) -> list[int]:
        return sorted(id for id in self._entries if id % multiples_of == 0)


def _refuse_builtins(event: Event, builtins: Mapping[str, object]) -> None:
    message = "it is built in and cannot be sent"
    sent = [name for name in builtins if name in event]
    if sent:
        raise EventError([EventProblem(name, "event.builtin", message) for name in sent])
