"""The native core behind `Index`: trees go in as JSON, answers come out as ids."""

import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

from index.backend import Progress
from index.entry import Entry
from index.language.json_form import from_json, to_json
from index.language.limits import Limits
from index.language.schema import Schema
from index.language.tree import Tree

if TYPE_CHECKING:
    from index import _native

Row = tuple[int, bytes, int, float | None, float | None]
"""An id, the JSON form of its tree, its score, and its window."""

_PORTION = 10_000
"""So many are inserted between two words of progress."""


def native_module() -> ModuleType | None:
    """The native core, if it was built."""
    try:
        from index import _native as module  # noqa: PLC0415 (it may not be there)
    except ImportError:
        return None
    return module


class NativeBackend:
    """A thin coat around `_native.Index`."""

    name = "native"

    def __init__(
        self, schema: Schema, limits: Limits, module: Any, keep_trees: bool = True
    ) -> None:
        self._schema = schema
        self._limits = limits
        self.core: _native.Index = module.Index(
            schema,
            [(attribute.name, attribute.type.value) for attribute in schema],
            limits.predicates,
            limits.depth,
            limits.set_values,
            keep_trees,
        )

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        rows = [
            (id, to_json(entry.tree).encode(), entry.score, entry.start, entry.end)
            for id, entry in items
        ]
        if len(rows) == 1:
            self.core.insert(*rows[0])
        else:
            self.put_json(rows, progress)

    def put_json(
        self,
        rows: list[Row],
        progress: Progress | None = None,
    ) -> None:
        """Insert or replace from JSON forms: the fastest way in."""
        for first in range(0, len(rows), _PORTION):
            self.core.insert_many(rows[first : first + _PORTION])
            if progress:
                progress(min(first + _PORTION, len(rows)), len(rows))

    def remove(self, id: int) -> bool:
        return self.core.remove(id)

    def match(self, event: Mapping[str, object], at: float | None) -> list[int]:
        return self.core.match(event, at)  # type: ignore[arg-type]  # it checks by itself

    def top(
        self, event: Mapping[str, object], limit: int, at: float | None
    ) -> tuple[list[int], int]:
        return self.core.top(event, limit, at)  # type: ignore[arg-type]  # it checks by itself

    def tree(self, id: int) -> Tree | None:
        text = self.core.tree(id)
        return None if text is None else from_json(text, self._schema, self._limits)

    def plan(self, id: int) -> dict[str, object]:
        plan: dict[str, object] = json.loads(self.core.plan(id))
        return plan

    def stats(self) -> dict[str, object]:
        stats: dict[str, object] = json.loads(self.core.stats())
        return stats

    def check_invariants(self) -> None:
        self.core.check_invariants()

    def use_statistics(self, statistics: bytes | None) -> None:
        self.core.use_statistics(statistics)

    def save(self, path: str | PathLike[str]) -> None:
        self.core.save(path)

    def load(self, path: str | PathLike[str]) -> None:
        self.core.load(path)

    def __len__(self) -> int:
        return len(self.core)

    def __contains__(self, id: int) -> bool:
        return id in self.core

    def __iter__(self) -> Iterator[int]:
        return iter(self.core.ids())
