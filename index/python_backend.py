"""Entries and an engine, in Python: what serves the reference and the scan."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

from index.answer import write_answer
from index.backend import Attributes, Best, Progress
from index.digest import digest_of, term
from index.engine import Engine
from index.entry import BID_MAX, Entry, best
from index.event import Event, EventError, EventProblem, check_event
from index.event_json import read_event
from index.exclude import Exclude
from index.language.limits import Limits
from index.language.schema import Attribute, Schema
from index.language.tree import Tree
from index.rows import Row, read_row

_MAX_UNKNOWN = 1000
"""So many unknown attribute names are counted by name; the rest together."""


class PythonBackend:
    """Trees and what stands beside them by id here, matching in an engine."""

    def __init__(self, schema: Schema, limits: Limits, engine: Engine) -> None:
        self.name = engine.name
        self._schema = schema
        self._limits = limits
        self._engine = engine
        self._entries: dict[int, Entry] = {}
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
            self._engine.add(id, entry.tree)
        if known is not None:
            self._digest -= term(id, known.version)
        self._digest += term(id, entry.version)
        self._entries[id] = entry

    def remove(self, id: int) -> bool:
        if id not in self._entries:
            return False
        self._engine.drop(id)
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

    def digest(self) -> int:
        return self._digest % 2**64

    def match(
        self, event: Attributes, at: float | None, exclude: Exclude | None, floor: int
    ) -> list[int]:
        return sorted(self._matching(event, at, exclude, floor))

    def top(
        self, event: Attributes, limit: int, at: float | None, exclude: Exclude | None, floor: int
    ) -> Best:
        ids = list(self._matching(event, at, exclude, floor))
        return best(ids, self._entries, limit), len(ids)

    def match_json(
        self,
        event: bytes,
        at: float | None,
        extra: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> list[int]:
        return self.match(read_event(event) | (extra or {}), at, exclude, floor)

    def top_json(
        self,
        event: bytes,
        limit: int,
        at: float | None,
        extra: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> Best:
        return self.top(read_event(event) | (extra or {}), limit, at, exclude, floor)

    def top_answer(
        self,
        event: Attributes | bytes,
        limit: int,
        tail: bytes,
        at: float | None,
        builtins: dict[str, object] | None,
        exclude: Exclude | None,
        floor: int,
    ) -> bytes:
        read = read_event(event) if isinstance(event, bytes) else event
        if builtins:
            refuse_builtins(read, builtins)
            read = {**read, **builtins}
        ids, total = self.top(read, limit, at, exclude, floor)
        return write_answer([(self._entries[id].score, id) for id in ids], total, tail)

    def _matching(
        self, event: Attributes, at: float | None, exclude: Exclude | None, floor: int
    ) -> Iterator[int]:
        passes = self._filter(at, exclude, floor)
        return (id for id in self._engine.find(self._check(event)) if passes(id))

    def _filter(
        self, at: float | None, exclude: Exclude | None, floor: int
    ) -> Callable[[int], bool]:
        """Whether an id that matches may be in the answer."""
        ids = frozenset(exclude.ids if exclude else ())
        groups = self._muted.union(exclude.groups if exclude else ()) - {0}

        def passes(id: int) -> bool:
            entry = self._entries[id]
            return (
                (at is None or entry.is_open(at))
                and id not in ids
                and entry.group not in groups
                and entry.score & BID_MAX >= floor
            )

        return passes

    def _check(self, event: Attributes) -> Event:
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

    def usage(self) -> dict[str, Any]:
        return {"unknown_attributes": dict(self._unknown)}

    def stats(self) -> dict[str, object]:
        return {
            "expressions": len(self._entries),
            "groups": len({entry.group for entry in self._entries.values()} - {0}),
            "muted_groups": len(self._muted),
            "unknown_attributes": dict(self._unknown),
            **self._engine.stats(),
        }

    def pairs(self, limit: int) -> list[tuple[str, str, int]]:
        """None: nothing is guarded here, so no joint share would change anything."""
        return []

    def check_invariants(self) -> None:
        self._engine.check_invariants()
        versions = ((id, entry.version) for id, entry in self._entries.items())
        assert self.digest() == digest_of(versions), "the digest is another's"
        assert 0 not in self._muted, "group 0 is none"

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


def refuse_builtins(event: Attributes, builtins: Attributes) -> None:
    """`EventError` if an event has an attribute that is built in."""
    message = "it is built in and cannot be sent"
    sent = [name for name in builtins if event.get(name) is not None]
    if sent:
        raise EventError([EventProblem(name, "event.builtin", message) for name in sent])


class NotSupported(RuntimeError):
    """The engine in use cannot do this."""
