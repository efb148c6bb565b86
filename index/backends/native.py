"""The native core behind `Index`: trees go in as JSON, matches come out."""

import json
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from index.backends.backend import Progress
from index.entry import Entry
from index.language.json_form import from_json, to_json
from index.language.limits import Limits
from index.language.schema import Attribute, Schema
from index.language.tree import Tree
from index.rows import Row, RowError

if TYPE_CHECKING:
    from index import _native


def native_module() -> ModuleType | None:
    """The native core, if it was built."""
    try:
        from index import _native as module  # noqa: PLC0415 (it is optional)
    except ImportError:
        return None
    return module


class NativeBackend:
    """A thin wrapper around `_native.Index`, whose own methods it has where they fit."""

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
        core = self.core
        self.put_json, self.remove, self.ask = core.insert_many, core.remove, core.ask
        self.tree_json, self.ids = core.tree, core.ids
        self.origin, self.labels = core.origin, core.labels
        self.mute, self.unmute, self.digest = core.mute, core.unmute, core.digest
        self.save, self.load = core.save, core.load
        self.replan, self.sampled = core.replan, core.sampled
        self.use_statistics, self.check_invariants = core.use_statistics, core.check_invariants

    def put_many(self, items: Sequence[tuple[int, Entry]], progress: Progress | None) -> None:
        rows: list[Row] = [
            (
                id,
                to_json(entry.tree).encode(),
                entry.score,
                entry.start,
                entry.end,
                entry.group,
                entry.version,
                entry.labels,
            )
            for id, entry in items
        ]
        if len(rows) == 1:
            self.core.insert(*rows[0])  # type: ignore[arg-type]
            return
        try:
            self.put_json(rows, progress)
        except RowError as error:
            raise error.problem from None

    def muted(self) -> set[int]:
        return set(self.core.muted())

    def add_attribute(self, attribute: Attribute, schema: Schema) -> None:
        self.core.add_attribute(attribute.name, attribute.type.value, schema)
        self._schema = schema

    def use_schema(self, schema: Schema) -> None:
        self._schema = schema  # the core needs no operators

    def tree(self, id: int) -> Tree | None:
        text = self.tree_json(id)
        return None if text is None else from_json(text, self._schema, self._limits)

    def plan(self, id: int) -> dict[str, object]:
        plan: dict[str, object] = json.loads(self.core.plan(id))
        return plan

    def stats(self) -> dict[str, object]:
        stats: dict[str, object] = json.loads(self.core.stats())
        return stats

    def usage(self) -> dict[str, Any]:
        usage: dict[str, Any] = json.loads(self.core.usage())
        return usage

    def __len__(self) -> int:
        return len(self.core)

    def __contains__(self, id: int) -> bool:
        return id in self.core
