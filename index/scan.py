"""The oracle: evaluate every expression, as written, on every event.

This is the meaning of the language and nothing else: no normal form, no sharing, no index. The
other engines are right when they agree with it. Apart from the tree and the table of operators
it shares no code with them. Its time grows with the number of expressions; `stats()` says that
it is a scan.
"""

from collections.abc import Iterator

from index.event import Event
from index.language.predicate import Predicate
from index.language.tree import And, Constant, Not, Or, Tree, Xor, children_of


def evaluate(tree: Tree, event: Event) -> bool | None:
    """True, False, or None for unknown: Kleene's three values."""
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Predicate):
        value = tree.value_in(event)
        return tree.op.if_missing if value is None else tree.op.holds(value, tree.operand)
    return combine(tree, [evaluate(child, event) for child in children_of(tree)])


def combine(tree: Not | And | Or | Xor, values: list[bool | None]) -> bool | None:
    """The value of a node, from the values of its children."""
    if isinstance(tree, Not):
        return None if values[0] is None else not values[0]
    if isinstance(tree, And):
        if False in values:
            return False
        return None if None in values else True
    if isinstance(tree, Or):
        if True in values:
            return True
        return None if None in values else False
    return _evaluate_chain(tree, values)


def _evaluate_chain(tree: Xor, values: list[bool | None]) -> bool | None:
    if None in values:
        return None
    result = values[0]
    for value, inverted in zip(values[1:], tree.inverted, strict=True):
        result = (result == value) if inverted else (result != value)
    return result


class ScanEngine:
    """All expressions by id, tried one after the other."""

    name = "scan"

    def __init__(self) -> None:
        self._trees: dict[int, Tree] = {}

    def add(self, id: int, tree: Tree) -> None:
        """Index an expression under a free id."""
        self._trees[id] = tree

    def drop(self, id: int) -> None:
        """Remove an id, which is there."""
        del self._trees[id]

    def find(self, event: Event) -> Iterator[int]:
        """The ids whose expressions the event makes true, in no order."""
        return (id for id, tree in self._trees.items() if evaluate(tree, event) is True)

    def plan(self, id: int) -> dict[str, object]:
        """How `find` looks for an expression."""
        return {"way": "scan"}

    def stats(self) -> dict[str, object]:
        """Sizes and counts."""
        return {"ways": {"scan": len(self._trees)}}

    def check_invariants(self) -> None:
        """Nothing to check: it is only a dictionary."""
