"""`Index`: the one class that everybody uses, whatever engine is behind it.

Index ── checks ids, trees and what stands beside them
  └── backend ──┬── native_backend.py   the Rust core: everything in one place
                └── python_backend.py   entries ── engine: reference/, scan.py

>>> from index import Attribute, Index, Schema
>>> schema = Schema([Attribute("country", "string"), Attribute("age", "int")])
>>> index = Index(schema)
>>> index.insert(7, "country in ('US', 'CA') and age >= 18", score=5)
>>> index.insert(8, "true")
>>> index.match({"country": "US", "age": 30})
[7, 8]
>>> index.top({"country": "US", "age": 30}, limit=1)
([7], 2)
>>> index.match({"country": "US"})  # the age is missing: unknown is not true
[8]
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Self

from index.backend import Backend, Progress
from index.blame import Blame, blame
from index.entry import Entry, check_floor, check_group, check_id, is_moment
from index.event import check_event
from index.exclude import Exclude
from index.explain import Explanation, explain
from index.funnel import Funnel, funnel
from index.language.errors import SchemaError
from index.language.limits import Limits
from index.language.parser import parse
from index.language.schema import Attribute, Schema
from index.language.tree import Tree, predicates_of
from index.language.types import INT_MAX
from index.native_backend import NativeBackend, native_module
from index.python_backend import NotSupported, PythonBackend
from index.reference.engine import ReferenceEngine
from index.rows import Row
from index.scan import ScanEngine

ENGINES = ("auto", "native", "reference", "scan")


class Index:
    """Expressions by id, and which of them an event makes true.

    `engine` is `auto` (the fastest that there is), `native` (the Rust core), `reference`
    (the thesis's structures in Python) or `scan` (every expression, one by one: the
    oracle). All give the same answers. With the native engine any number of threads may
    match while one writes; a match sees one version of the index.
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
    ) -> None:
        """Add an expression, a tree or its text, or replace the one with this id.

        With `start` or `end` (epoch seconds, `[start, end)`), it matches only at a moment
        inside. A `group` says whose it is, to `mute` or exclude them all; 0 is nobody's. The
        `version` counts in the `digest`. If anything is wrong, the index is as it was.
        """
        entry = self._entry(expression, score, start, end, group, version)
        self._backend.put_many([(check_id(id), entry)], None)

    def insert_many(
        self, items: Iterable[tuple[object, ...]], progress: Progress | None = None
    ) -> None:
        """Insert `(id, expression)`, or with score, start, end, group and version behind, in one
        go.

        All are checked before the first is inserted: either all go in, or none does.
        `progress(done, total)` is called now and then.
        """
        checked = []
        for item in items:
            id, expression, *rest = item
            checked.append((check_id(id), self._entry(expression, *rest)))  # type: ignore[arg-type]
        self._backend.put_many(checked, progress)

    def insert_json(self, rows: Iterable[Row], progress: Progress | None = None) -> None:
        """Insert `(id, tree)`, or with score, start, end, group and version behind, in one go,
        where a tree is its JSON form, bytes or a string: the fastest way in.

        All are checked before the first is inserted: either all go in, or none does, and a
        `RowError` says which is wrong and why. `progress(done, total)` is called now and then.
        Matching, and other threads, go on meanwhile.
        """
        self._backend.put_json(list(rows), progress)

    def remove(self, id: int) -> bool:
        """Remove an expression; whether it was there."""
        return id in self and self._backend.remove(id)

    def mute(self, group: int) -> bool:
        """Keep the ids of a group, those to come included, from matching until it is unmuted;
        whether that is new. They stay in the index. It takes the same moment for any number of
        them."""
        return self._backend.mute(_check_some_group(group))

    def unmute(self, group: int) -> bool:
        """Let the ids of a group match again; whether they did not."""
        return self._backend.unmute(_check_some_group(group))

    def muted(self) -> set[int]:
        """The muted groups."""
        return self._backend.muted()

    def add_attribute(self, attribute: Attribute) -> None:
        """Declare one more attribute, for expressions and events to come.

        One that is declared with the same type is fine; with another it is a `SchemaError`.
        """
        known = self.schema.get(attribute.name)
        if known == attribute:
            return
        if known is not None:
            message = (
                f"the attribute {known.name} is declared as {known.type}, not {attribute.type}"
            )
            raise SchemaError("attribute.repeated", message)
        schema = Schema([*self.schema, attribute])
        self._backend.add_attribute(attribute, schema)
        self.schema = schema

    def use_statistics(self, statistics: Mapping[str, object] | bytes | None) -> None:
        """Let statistics about the traffic steer how expressions are found, or none.

        The format is `docs/statistics.md`, as an object or as its JSON. They change the cost of a
        match, never its result.
        """
        if statistics is not None and not isinstance(statistics, bytes):
            statistics = json.dumps(statistics).encode()
        self._backend.use_statistics(statistics)

    # Asking.

    def match(
        self,
        event: Mapping[str, object],
        at: float | None = None,
        *,
        exclude: Exclude | None = None,
        floor: int = 0,
    ) -> list[int]:
        """The ids whose expressions the event makes true, ascending.

        With `at` (epoch seconds), only those whose window contains that moment. None that
        `exclude` names. With a `floor`, only those whose score has at least that in its lower
        53 bits. Muted groups never match.
        """
        return self._backend.match(event, _check_moment(at), exclude, check_floor(floor))

    def match_many(
        self, events: Iterable[Mapping[str, object]], at: float | None = None
    ) -> list[list[int]]:
        """One list of ids for each event."""
        return [self.match(event, at) for event in events]

    def top(
        self,
        event: Mapping[str, object],
        limit: int = 10,
        at: float | None = None,
        *,
        exclude: Exclude | None = None,
        floor: int = 0,
    ) -> tuple[list[int], int]:
        """The best `limit` of what `match` gives, by score, lower id first among equals; and how
        many match in all."""
        return self._backend.top(
            event, _check_limit(limit), _check_moment(at), exclude, check_floor(floor)
        )

    def match_json(
        self,
        event: bytes,
        at: float | None = None,
        extra: dict[str, object] | None = None,
        *,
        exclude: Exclude | None = None,
        floor: int = 0,
    ) -> list[int]:
        """`match`, from the JSON of an event's attributes; `extra` is added to them."""
        return self._backend.match_json(
            event, _check_moment(at), extra, exclude, check_floor(floor)
        )

    def top_json(
        self,
        event: bytes,
        limit: int = 10,
        at: float | None = None,
        extra: dict[str, object] | None = None,
        *,
        exclude: Exclude | None = None,
        floor: int = 0,
    ) -> tuple[list[int], int]:
        """`top`, from the JSON of an event's attributes; `extra` is added to them."""
        return self._backend.top_json(
            event, _check_limit(limit), _check_moment(at), extra, exclude, check_floor(floor)
        )

    def top_answer(
        self,
        event: Mapping[str, object] | bytes,
        limit: int = 10,
        at: float | None = None,
        *,
        builtins: dict[str, object] | None = None,
        exclude: Exclude | None = None,
        floor: int = 0,
        tail: bytes = b"}",
    ) -> bytes:
        """`top`, from an event's attributes or their JSON, as the bytes of an answer:

            {"matches":[{"campaign_id":7,"priority":5,"bid_micros":1200000}],"total":1

        and then the `tail`. The priority is the score without its lower 53 bits, the bid is
        those. `builtins` are added to the event, which must not have them itself: that is an
        `EventError` with the code `event.builtin`.
        """
        return self._backend.top_answer(
            event,
            _check_limit(limit),
            tail,
            _check_moment(at),
            builtins,
            exclude,
            check_floor(floor),
        )

    def digest(self) -> int:
        """64 bits that two indexes have in common if they hold the same ids in the same versions,
        whatever came first; `digest_of` gives the same for pairs of the two."""
        return self._backend.digest()

    def explain(self, id: int, event: Mapping[str, object]) -> Explanation:
        """The expression's tree as written, each node true, false or unknown."""
        checked, _ = check_event(event, self.schema)
        return explain(self.tree(id), checked)

    def blame(self, id: int, event: Mapping[str, object]) -> Blame:
        """A smallest set of predicates that stand in the expression's way."""
        checked, _ = check_event(event, self.schema)
        return blame(self.tree(id), checked)

    def funnel(self, ids: Iterable[int], event: Mapping[str, object]) -> Funnel:
        """How many of these were kept out by one attribute alone, by which, and how many by
        several; by their expressions alone. An id that is not there is passed over."""
        checked, _ = check_event(event, self.schema)
        trees = (self._backend.tree(id) for id in ids if id in self)
        return funnel((tree for tree in trees if tree is not None), checked)

    def tree(self, id: int) -> Tree:
        """The expression as it was written, or `KeyError`."""
        tree = self._backend.tree(id) if id in self else None
        if tree is None:
            raise KeyError(f"there is no expression {id}")
        return tree

    def plan(self, id: int) -> dict[str, object]:
        """How the engine will look for an expression: its way, its access, its guards."""
        if id not in self:
            raise KeyError(f"there is no expression {id}")
        return self._backend.plan(id)

    def stats(self) -> dict[str, object]:
        """What the index holds."""
        return {
            "engine": self._backend.name,
            "attributes": len(self.schema),
            **self._backend.stats(),
        }

    def usage(self) -> dict[str, Any]:
        """Of `stats`, what is known without looking at any expression, and so can be asked for all
        the time: `unknown_attributes`, how often events had each, and of the native engine `bytes`,
        by part."""
        return self._backend.usage()

    def pairs(self, limit: int = 50) -> list[tuple[str, str, int]]:
        """The pairs of attributes that the index uses together most: that of an access, that of
        a guard behind it, and how many postings have both. Their joint shares are worth counting:
        `pairs` of `docs/statistics.md`."""
        return self._backend.pairs(_check_limit(limit))

    def postings_touched(self, events: Sequence[bytes]) -> list[int]:
        """How many postings the native engine looks at for each event, from its JSON: what a match
        costs, the same on every machine."""
        return self._native().core.time_matches(list(events))[2]

    def to_dot(self, limit: int = 50) -> str:
        """A picture of at most so many expressions, in the language of Graphviz."""
        return self._native().core.to_dot(_check_limit(limit))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is not what it should be. Slow."""
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
        """The index of a file that `save` wrote; `ValueError` if it is not whole and ours.

        It is the memory of the index, so only the build that wrote it can read it: for any other
        it is an error as well, and the index has to be built from its source. The limits are for
        what will be inserted. The file is as trusted as the program: its checksum finds damage,
        not malice.
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
        return iter(self._backend)

    def _native(self) -> NativeBackend:
        if not isinstance(self._backend, NativeBackend):
            raise NotSupported(f"the {self._backend.name} engine cannot do this; native can")
        return self._backend

    def _entry(
        self,
        expression: Tree | str,
        score: int = 0,
        start: float | None = None,
        end: float | None = None,
        group: int = 0,
        version: int = 0,
    ) -> Entry:
        if isinstance(expression, str):
            expression = parse(expression, self.schema, self.limits)
        else:
            self._check_tree(expression)
        return Entry(expression, score, start, end, group, version)

    def _check_tree(self, tree: Tree) -> None:
        """A tree holds the types that it was checked with; they must be this schema's."""
        if not isinstance(tree, Tree):
            raise TypeError(f"an expression is a tree or its text, not {tree!r}")
        for predicate in predicates_of(tree):
            attribute = self.schema.get(predicate.attribute)
            if attribute is None or attribute.type is not predicate.type:
                raise ValueError(
                    f"the tree was checked against another schema: it has {predicate.attribute} "
                    f"as {predicate.type}, here it is "
                    f"{attribute.type if attribute else 'not declared'}"
                )


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


def _check_moment(at: float | None) -> float | None:
    if at is not None and not is_moment(at):
        raise ValueError(f"at is a number of epoch seconds, not {at!r}")
    return at


def _check_limit(limit: int) -> int:
    if limit < 0:
        raise ValueError(f"the limit must not be negative, got {limit}")
    return min(limit, INT_MAX)  # no index has as many


def _check_some_group(group: int) -> int:
    if check_group(group) == 0:
        raise ValueError("group 0 means no group and cannot be muted")
    return group
