"""`Index`: the one class that everybody uses, whatever engine is behind it.

Index ──┬── entries   id → tree, score, window        (here)
        └── engine    event → ids whose tree is true   reference/, scan.py

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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from index.engine import Engine
from index.entry import Entry, best, check_id, is_moment
from index.event import Event, check_event
from index.explain import Explanation, explain
from index.language.limits import Limits
from index.language.parser import parse
from index.language.schema import Schema
from index.language.tree import Tree, predicates_of
from index.reference.engine import ReferenceEngine
from index.scan import ScanEngine

ENGINES = ("auto", "reference", "scan")

_MAX_UNKNOWN = 1000
"""So many unknown attribute names are counted by name; the rest together."""


class Index:
    """Expressions by id, and which of them an event makes true.

    `engine` is `auto` (the fastest that there is), `reference` (the thesis's
    structures in Python) or `scan` (every expression, one by one: the oracle). All
    give the same answers.
    """

    def __init__(
        self,
        schema: Schema,
        engine: str = "auto",
        limits: Limits = Limits(),  # noqa: B008 (immutable)
    ) -> None:
        if engine not in ENGINES:
            raise ValueError(f"the engine is one of {', '.join(ENGINES)}, not {engine!r}")
        self.schema = schema
        self.limits = limits
        self._entries: dict[int, Entry] = {}
        self._engine: Engine = ScanEngine() if engine == "scan" else ReferenceEngine()
        self._unknown: Counter[str] = Counter()

    # Writing.

    def insert(
        self,
        id: int,
        expression: Tree | str,
        score: int = 0,
        start: float | None = None,
        end: float | None = None,
    ) -> None:
        """Add an expression, a tree or its text, or replace the one with this id.

        With `start` or `end` (epoch seconds, `[start, end)`), it matches only at a moment
        inside. If anything is wrong, the index is as it was.
        """
        self._put(check_id(id), self._entry(expression, score, start, end))

    def insert_many(self, items: Iterable[tuple[object, ...]]) -> None:
        """Insert `(id, expression)`, or with score, start and end behind, in one go.

        All are checked before the first is inserted: either all go in, or none does.
        """
        checked = []
        for item in items:
            id, expression, *rest = item
            checked.append((check_id(id), self._entry(expression, *rest)))  # type: ignore[arg-type]
        for id, entry in checked:
            self._put(id, entry)

    def remove(self, id: int) -> bool:
        """Remove an expression; whether it was there."""
        if id not in self:
            return False
        self._engine.drop(id)
        del self._entries[id]
        return True

    def _entry(
        self,
        expression: Tree | str,
        score: int = 0,
        start: float | None = None,
        end: float | None = None,
    ) -> Entry:
        if isinstance(expression, str):
            expression = parse(expression, self.schema, self.limits)
        else:
            self._check_tree(expression)
        return Entry(expression, score, start, end)

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

    def _put(self, id: int, entry: Entry) -> None:
        known = self._entries.get(id)
        if known is None or known.tree != entry.tree:
            if known is not None:
                self._engine.drop(id)
            self._engine.add(id, entry.tree)
        self._entries[id] = entry

    # Asking.

    def match(self, event: Mapping[str, object], at: float | None = None) -> list[int]:
        """The ids whose expressions the event makes true, ascending.

        With `at` (epoch seconds), only those whose window contains that moment.
        """
        return sorted(self._matching(self._check_event(event), at))

    def match_many(
        self, events: Iterable[Mapping[str, object]], at: float | None = None
    ) -> list[list[int]]:
        """One list of ids for each event."""
        return [self.match(event, at) for event in events]

    def top(
        self, event: Mapping[str, object], limit: int = 10, at: float | None = None
    ) -> tuple[list[int], int]:
        """The best `limit` of what matches, by score, lower id first among equals; and how
        many match in all."""
        if limit < 0:
            raise ValueError(f"the limit must not be negative, got {limit}")
        ids = list(self._matching(self._check_event(event), at))
        return best(ids, self._entries, limit), len(ids)

    def explain(self, id: int, event: Mapping[str, object]) -> Explanation:
        """The expression's tree as written, each node true, false or unknown."""
        return explain(self._known(id).tree, self._check_event(event))

    def plan(self, id: int) -> dict[str, object]:
        """How the engine will look for an expression: its way, its access, its guards."""
        self._known(id)
        return self._engine.plan(id)

    def stats(self) -> dict[str, object]:
        """What the index holds."""
        return {
            "engine": self._engine.name,
            "expressions": len(self._entries),
            "attributes": len(self.schema),
            "unknown_attributes": dict(self._unknown),
            **self._engine.stats(),
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the index is not what it should be. Slow."""
        self._engine.check_invariants()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and not isinstance(id, bool) and id in self._entries

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._entries))

    def _known(self, id: int) -> Entry:
        entry = self._entries.get(id)
        if entry is None:
            raise KeyError(f"there is no expression {id}")
        return entry

    def _matching(self, event: Event, at: float | None) -> Iterator[int]:
        if at is None:
            return iter(self._engine.find(event))
        if not is_moment(at):
            raise ValueError(f"at is a number of epoch seconds, not {at!r}")
        entries = self._entries
        return (id for id in self._engine.find(event) if entries[id].is_open(at))

    def _check_event(self, event: Mapping[str, object]) -> Event:
        checked, unknown = check_event(event, self.schema)
        for name in unknown:
            if name not in self._unknown and len(self._unknown) >= _MAX_UNKNOWN:
                name = ""
            self._unknown[name] += 1
        return checked
