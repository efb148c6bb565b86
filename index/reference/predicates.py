"""Which literals does an event make true? The predicate-matching phase of the A-Tree.

One PS-Tree for each attribute holds the literals that cover spaces of values; a list is looked up
once for each element. Literals that cover no spaces are in a plain set and are evaluated when
their attribute is present; `is null` is true if the attribute is missing.

    event  age = 20 ──▶ PS-Tree of age ──▶ {age >= 18, age != 40}
           tags = {1, 7} ──▶ PS-Tree of tags, twice ──▶ {tags any of (1, 2)}
           (present) ──▶ evaluated ──▶ {tags none of (9)}
           ref missing ──▶ {ref is null}

`all of` is found by one element only, the one with the fewest events so far, and is evaluated
when the event has that element.
"""

from collections import defaultdict
from collections.abc import Iterator

from index.event import Event
from index.language.literals import holds
from index.language.operators import Op
from index.language.predicate import Literal
from index.reference.elements import elements_of
from index.reference.ps_tree import PSTree
from index.reference.spaces import Choice, Domain, Missing, Present, Spaces, entry_of


class Predicates:
    """The literals that the expressions of an A-Tree use, ready to be matched.

    Invariants: a literal is in exactly one of the three structures; no tree and no set is empty.
    """

    def __init__(self) -> None:
        self._trees: dict[tuple[str, Domain], PSTree[Literal]] = {}
        self._present: defaultdict[str, set[Literal]] = defaultdict(set)
        self._missing: dict[str, Literal] = {}

    def add(self, literal: Literal) -> None:
        """Add a literal that is not there yet."""
        attribute = literal.predicate.key
        match entry_of(literal):
            case Missing():
                self._missing[attribute] = literal
            case Present():
                self._present[attribute].add(literal)
            case Spaces(domain, intervals):
                self._tree(attribute, domain, literal).insert(literal, intervals)
            case Choice(domain, intervals):
                tree = self._tree(attribute, domain, literal)
                rarest = min(intervals, key=lambda interval: tree.events_matching([interval]))
                tree.insert(literal, [rarest])

    def remove(self, literal: Literal) -> None:
        """Remove a literal that is there."""
        attribute = literal.predicate.key
        match entry_of(literal):
            case Missing():
                del self._missing[attribute]
            case Present():
                self._present[attribute].remove(literal)
                if not self._present[attribute]:
                    del self._present[attribute]
            case Spaces(domain) | Choice(domain):
                tree = self._trees[attribute, domain]
                tree.remove(literal)
                if not len(tree):
                    del self._trees[attribute, domain]

    def satisfied(self, event: Event) -> Iterator[Literal]:
        """The literals that a checked event makes true; some may appear twice."""
        for (attribute, domain), tree in self._trees.items():
            value = event.get(attribute)
            if value is None:
                continue
            elements = value if isinstance(value, frozenset) else (value,)
            for element in elements:
                for literal in tree.locate(domain.image(element)).members:
                    if literal.predicate.op is not Op.ALL_OF or holds(literal, value):
                        yield literal
        for attribute, literals in self._present.items():
            value = event.get(attribute)
            if value is not None:
                yield from (literal for literal in literals if holds(literal, value))
        for attribute, literal in self._missing.items():
            if attribute not in event:
                yield literal

    def record(self, event: Event) -> None:
        """Count an event, for later choices of elements."""
        for (attribute, domain), tree in self._trees.items():
            value = event.get(attribute)
            for element in value if isinstance(value, frozenset) else (value,):
                if element is not None:
                    tree.record(domain.image(element))

    def __len__(self) -> int:
        in_trees = sum(len(tree) for tree in self._trees.values())
        return in_trees + sum(map(len, self._present.values())) + len(self._missing)

    def stats(self) -> dict[str, int]:
        """The number of spaces, and of literals by how they are found."""
        return {
            "spaces": sum(len(tree.spaces()) for tree in self._trees.values()),
            "by_space": sum(len(tree) for tree in self._trees.values()),
            "by_presence": sum(map(len, self._present.values())),
            "by_absence": len(self._missing),
        }

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken."""
        for tree in self._trees.values():
            assert len(tree), "a tree without literals"
            tree.check_invariants()
        assert all(self._present.values()), "an attribute without literals"

    def _tree(self, attribute: str, domain: Domain, literal: Literal) -> PSTree[Literal]:
        tree = self._trees.get((attribute, domain))
        if tree is None:
            tree = PSTree(elements_of(literal.predicate.type))
            self._trees[attribute, domain] = tree
        return tree
