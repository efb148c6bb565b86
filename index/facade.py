"""`Index`: the class that callers use, for every engine.

Index ── checks ids, trees and their properties
  └── backends/ ──┬── native.py   the Rust core
                  └── python.py   entries ── engine: reference/, scan.py

>>> from index import Attribute, Index, Schema
>>> schema = Schema([Attribute("country", "string"), Attribute("age", "int")])
>>> index = Index(schema)
>>> index.insert(7, "country in ('US', 'CA') and age >= 18", score=5)
>>> index.insert(8, "true")
>>> index.match({"country": "US", "age": 30})
[7, 8]
>>> index.top({"country": "US", "age": 30}, limit=1)
[7]
>>> index.top({"country": "US", "age": 30}, limit=1, total=True)
([7], 2)
>>> index.match({"country": "US"})  # the age is missing: unknown is not true
[8]
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self, overload

from index.backends.backend import Attributes, Backend, NotSupported, Progress, Sampled
from index.backends.native import NativeBackend, native_module
from index.backends.python import PythonBackend
from index.costly.settlement import Settlement
from index.entry import Entry, check_group, check_id
from index.event import check_event
from index.explain import Explanation, explain
from index.funnel import Funnel, funnel
from index.language.calls import Operator
from index.language.errors import SchemaError, TreeError
from index.language.json_form import from_json
from index.language.limits import Limits
from index.language.parser import parse
from index.language.schema import Attribute, Schema
from index.language.tree import Constant, Tree, predicates_of
from index.matches import Matches
from index.obstacles import Obstacles, obstacles_to
from index.query import Query, check_limit
from index.reference.engine import ReferenceEngine
from index.rows import Row
from index.scan import ScanEngine

ENGINES = ("auto", "native", "reference", "scan")

_MOST_PENDING_TREES = 20_000
_CHANCE = random.SystemRandom()  # the state of `random` belongs to the caller


class Index:
    """Expressions by id. Finds those that an event makes true.

    `engine` is `auto` (the fastest available), `native` (the Rust core), `reference` (the
    thesis's structures in Python) or `scan` (every expression, one by one: the oracle). All
    give the same answers. With the native engine any number of threads may match while one
    writes; a match sees one version of the index.
    """

    def __init__(
        self,
        schema: Schema,
        engine: str = "auto",
        limits: Limits = Limits(),  # noqa: B008 (immutable)
    ) -> None:
        self.schema = schema
        self.limits = limits
        self._backend = _backend(schema, engine, limits)
        self._ask = self._backend.ask  # looked up once: a small match takes a microsecond
        self._pending_trees: dict[str, Tree] = {}

    # Writing.

    def insert(
        self,
        id: int,
        expression: Tree | str,
        score: int = 0,
        start: float | None = None,
        end: float | None = None,
        group: int = 0,
        version: int = 0,
        labels: Sequence[str] = (),
    ) -> None:
        """Add an expression, a tree or its text, or replace the one with this id.

        With `start` or `end` (epoch seconds, `[start, end)`), it matches only at a moment
        inside. The `group` is its owner, to `mute` or exclude all its expressions; 0 means no
        group. The `version` is part of the `digest`. A query can exclude `labels`, and with them
        those below: `food/sweets` is below `food`. After an error the index is unchanged.
        """
        self.insert_many([(id, expression, score, start, end, group, version, labels)])

    def insert_many(
        self, items: Iterable[tuple[object, ...]], progress: Progress | None = None
    ) -> None:
        """Insert items `(id, expression)`, optionally followed by score, start, end, group, version
        and labels.

        All are checked before the first is inserted, so either all are inserted or none.
        `progress(done, total)` is called now and then.
        """
        self._backend.put_many([self._entry(*item) for item in items], progress)

    def insert_json(self, rows: Iterable[Row], progress: Progress | None = None) -> None:
        """Insert rows `(id, tree)`, optionally followed by score, start, end, group, version and
        labels, with the tree in its JSON form, bytes or a string. This is the fastest way to load.

        All are checked before the first is inserted, so either all are inserted or none; a
        `RowError` says which is invalid and why. `progress(done, total)` is called now and then.
        Matching and other threads go on meanwhile.
        """
        self._backend.put_json(list(rows), progress)

    def remove(self, id: int) -> bool:
        """Remove an expression. Returns whether it was there."""
        return id in self and self._backend.remove(id)

    def mute(self, group: int) -> bool:
        """Keep the ids of a group, also those inserted later, from matching until it is unmuted.
        Returns whether that is new. They stay in the index. Takes constant time."""
        return self._backend.mute(_check_some_group(group))

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again. Returns whether the group was muted."""
        return self._backend.unmute(_check_some_group(group))

    def muted(self) -> set[int]:
        """The muted groups."""
        return self._backend.muted()

    def add_attribute(self, attribute: Attribute) -> None:
        """Declare one more attribute, for later expressions and events.

        Declaring it again with the same type has no effect; with another type it is a
        `SchemaError`.
        """
        known = self.schema.get(attribute.name)
        if known == attribute:
            return
        if known is not None:
            message = (
                f"the attribute {known.name} is declared as {known.type}, not {attribute.type}"
            )
            raise SchemaError("attribute.repeated", message)
        schema = Schema([*self.schema, attribute], self.schema.operators.values())
        self._backend.add_attribute(attribute, schema)
        self._use_schema(schema)

    def use_operators(self, operators: Iterable[Operator]) -> None:
        """Declare the operators that expressions can call, in place of those declared before."""
        schema = Schema(self.schema, operators)
        self._backend.use_schema(schema)
        self._use_schema(schema)

    def _use_schema(self, schema: Schema) -> None:
        self.schema = schema
        self._pending_trees = {}

    def use_statistics(self, statistics: Mapping[str, object] | bytes | None) -> None:
        """Plan how expressions are found by statistics about the traffic, or without.

        `docs/statistics.md` has the format, an object or its JSON. Statistics change the cost of
        a match, never its result.
        """
        if statistics is not None and not isinstance(statistics, bytes):
            statistics = json.dumps(statistics).encode()
        self._backend.use_statistics(statistics)

    def replan(self, progress: Progress | None = None) -> None:
        """Plan how expressions are found by the events that the index has sampled, where there are
        no statistics. Matching and other threads go on meanwhile. Like statistics, this changes
        the cost of a match, never its result. `progress(done, total)` is called now and then; if
        it raises an error, the rest stays as it is."""
        self._backend.replan(progress)

    def sampled(self) -> Sampled:
        """What the index has sampled of its own events, to decide whether to `replan`."""
        return Sampled(*self._backend.sampled())

    # Matching.

    def candidates(self, event: Attributes, query: Query) -> Matches:
        """What `ask` returns, and also the *pending* ids, whose expressions are true only if calls
        of operators say so: `costly/settlement.py` decides them."""
        return self._ask(event, query)

    def ask(self, event: Attributes, query: Query) -> Matches:
        """The matches of an event, its attributes or their JSON, that a query asks for. Muted
        groups never match. No operator is called, so what depends on one is unknown."""
        found = self._ask(event, query)
        if not found.pending:
            return found
        return Settlement(self, event, query).matches()

    def match(self, event: Attributes, at: float | None = None) -> list[int]:
        """The ids whose expressions the event makes true, ascending. With `at` (epoch seconds),
        only those whose window contains that moment."""
        if at is None:
            found = self._ask(event)
            if not found.pending:
                return found.ids
        return self.ask(event, Query(at)).ids

    def match_many(self, events: Iterable[Attributes], at: float | None = None) -> list[list[int]]:
        """One list of ids for each event."""
        return [self.match(event, at) for event in events]

    @overload
    def top(
        self,
        event: Attributes,
        limit: int = 10,
        at: float | None = None,
        *,
        total: Literal[False] = False,
    ) -> list[int]: ...
    @overload
    def top(
        self,
        event: Attributes,
        limit: int = 10,
        at: float | None = None,
        *,
        total: Literal[True],
    ) -> tuple[list[int], int]: ...
    def top(
        self,
        event: Attributes,
        limit: int = 10,
        at: float | None = None,
        *,
        total: bool = False,
    ) -> list[int] | tuple[list[int], int | None]:
        """The best `limit` of what `match` returns: by descending score, the lower id first among
        equal scores. With `total`, also the number of all matches, which takes a search of all
        expressions; without, the native engine looks at the best expressions first and stops when
        it has enough."""
        found = self.ask(event, Query(at, limit, total))
        return (found.ids, found.total) if total else found.ids

    # Inspecting.

    def digest(self) -> int:
        """64 bits, equal for two indexes that hold the same ids in the same versions, whatever the
        order of insertion; `digest_of` computes it from pairs of an id and a version."""
        return self._backend.digest()

    def explain(self, id: int, event: Mapping[str, object]) -> Explanation:
        """The expression's tree as written, each node true, false or unknown."""
        checked, _ = check_event(event, self.schema)
        return explain(self.tree(id), checked)

    def obstacles(self, id: int, event: Mapping[str, object]) -> Obstacles:
        """A smallest set of predicates that keep the expression from matching."""
        checked, _ = check_event(event, self.schema)
        return obstacles_to(self.tree(id), checked)

    def funnel(self, ids: Iterable[int], event: Mapping[str, object]) -> Funnel:
        """How many of these expressions match, how many fail because of one attribute alone, by
        attribute, and how many because of several. Unknown ids are skipped."""
        checked, _ = check_event(event, self.schema)
        trees = (self._backend.tree(id) for id in ids if id in self)
        return funnel((tree for tree in trees if tree is not None), checked)

    def tree(self, id: int) -> Tree:
        """The expression as written, or `KeyError`."""
        tree = self._backend.tree(id) if id in self else None
        if tree is None:
            raise KeyError(f"there is no expression {id}")
        return tree

    def pending_tree(self, id: int) -> Tree:
        """The tree of an expression with calls, parsed once for many events; `false` if the id is
        unknown, or if its operators are."""
        text = self._backend.tree_json(id)
        known = self._pending_trees
        tree = known.get(text or "")
        if tree is None:
            try:
                tree = Constant(False) if text is None else from_json(text, self.schema)
            except TreeError:
                tree = Constant(False)
            if len(known) >= _MOST_PENDING_TREES:
                known.clear()
            known[text or ""] = tree
        return tree

    def tree_json(self, id: int) -> str | None:
        """The JSON form of an expression as written; None if the id is unknown."""
        return self._backend.tree_json(id)

    def origin(self, id: int) -> tuple[int, int]:
        """The group and the version of an expression; zeros if the id is unknown."""
        return self._backend.origin(id)

    def labels(self, id: int) -> list[str]:
        """The labels of an expression, in order, each once; none if the id is unknown."""
        return self._backend.labels(id)

    def sample(self, most: int) -> list[int]:
        """All ids, or about `most` of them, evenly spaced from a random one on."""
        every = max(1, -(-len(self) // most))
        return self._backend.ids()[_CHANCE.randrange(every) :: every]

    def multiples(self, of: int) -> list[int]:
        """The ids that are multiples of a number, ascending: a share of all ids that is the same
        in every index. The native engine chooses them without the GIL."""
        return self._backend.ids(of)

    def plan(self, id: int) -> dict[str, object]:
        """How the engine looks for an expression: its way, its access, its guards; with the native
        engine also its `band` among the best expressions, null if it is not among them."""
        if id not in self:
            raise KeyError(f"there is no expression {id}")
        return self._backend.plan(id)

    def stats(self) -> dict[str, object]:
        """Sizes and counts."""
        return {
            "engine": self._backend.name,
            "attributes": len(self.schema),
            **self._backend.stats(),
        }

    def usage(self) -> dict[str, Any]:
        """The cheap part of `stats`, which reads no expression: `unknown_attributes` with how
        often events had each, and for the native engine `bytes`, by part."""
        return self._backend.usage()

    def postings_touched(self, events: Sequence[bytes]) -> list[int]:
        """How many postings the native engine reads for each event, given as JSON: a cost that is
        the same on every machine."""
        return self._native().core.time_matches(list(events))[2]

    def to_dot(self, limit: int = 50) -> str:
        """At most `limit` expressions as a Graphviz graph."""
        return self._native().core.to_dot(check_limit(limit))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is inconsistent. Slow."""
        self._backend.check_invariants()

    # Files.

    def save(self, path: str | PathLike[str]) -> None:
        """Write the index to a file, whole or not at all."""
        self._backend.save(path)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        schema: Schema,
        limits: Limits = Limits(),  # noqa: B008 (immutable)
    ) -> Self:
        """Load a file that `save` wrote; `ValueError` if it is damaged or not such a file.

        The file is the memory of the index, so only the build that wrote it can read it. For any
        other build it is an error too, and the caller builds the index from its source. The
        limits are for later inserts. Load only files that you trust as much as the program: the
        checksum finds damage, not manipulation.
        """
        index = cls(schema, limits=limits)
        index._backend.load(path)
        return index

    def __len__(self) -> int:
        return len(self._backend)

    def __contains__(self, id: object) -> bool:
        try:
            return check_id(id) in self._backend
        except ValueError:
            return False

    def __iter__(self) -> Iterator[int]:
        return iter(self._backend.ids())

    def _native(self) -> NativeBackend:
        if not isinstance(self._backend, NativeBackend):
            raise NotSupported(f"the {self._backend.name} engine cannot do this; native can")
        return self._backend

    def _entry(self, id: object, expression: object, *properties: object) -> tuple[int, Entry]:
        if isinstance(expression, str):
            tree = parse(expression, self.schema, self.limits)
        else:
            tree = self._check_tree(expression)
        return check_id(id), Entry(tree, *properties)  # type: ignore[arg-type]

    def _check_tree(self, tree: object) -> Tree:
        """The types that a tree was checked with must be those of this schema."""
        if not isinstance(tree, Tree):
            raise TypeError(f"an expression is a tree or its text, not {tree!r}")
        for predicate in predicates_of(tree):
            attribute = self.schema.term(predicate.attribute)
            kind = predicate.type if predicate.derived is None else predicate.derived.source
            if attribute is None or attribute.type is not kind:
                raise ValueError(
                    f"the tree was checked against another schema: it has {predicate.attribute} "
                    f"as {kind}, here it is "
                    f"{attribute.type if attribute else 'not declared'}"
                )
        return tree


def _backend(schema: Schema, engine: str, limits: Limits) -> Backend:
    if engine not in ENGINES:
        raise ValueError(f"the engine is one of {', '.join(ENGINES)}, not {engine!r}")
    if engine in ("auto", "native"):
        module = native_module()
        if module is not None:
            return NativeBackend(schema, limits, module)
        if engine == "native":
            raise NotSupported("the native core is not built; `make setup` says why")
    return PythonBackend(schema, limits, ScanEngine() if engine == "scan" else ReferenceEngine())


def _check_some_group(group: int) -> int:
    if check_group(group) == 0:
        raise ValueError("group 0 means no group and cannot be muted")
    return group
