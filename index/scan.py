"""The oracle: evaluate every expression, as written, on every event.

This is the meaning of the language and nothing else: no normal form, no sharing, no index. The
other engines are right when they agree with it. Apart from the tree and the table of operators
it shares no code with them. Its time grows with the number of expressions; `stats()` says that
it is a scan.
"""

from collections.abc import Iterator

from index.event import Event
from index.language.calls import call_of, is_call
from index.language.predicate import Predicate
from index.language.schema import Schema
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


def possible(tree: Tree, event: Event) -> tuple[bool, bool]:
    """Whether results of calls could make a tree true, and whether they could make it false, if
    each predicate on a call could be either, and neither where an argument is missing."""
    if isinstance(tree, Predicate) and is_call(tree):
        call = call_of(tree.attribute)
        known = call is not None and all(name in event for name in call.arguments)
        return known, known
    if isinstance(tree, Constant | Predicate):
        value = evaluate(tree, event)
        return value is True, value is False
    true, false = zip(*(possible(child, event) for child in children_of(tree)), strict=True)
    if isinstance(tree, Not):
        return false[0], true[0]
    if isinstance(tree, And):
        return all(true), any(false)
    if isinstance(tree, Or):
        return any(true), all(false)
    yes, no = true[0], false[0]
    for more, less, inverted in zip(true[1:], false[1:], tree.inverted, strict=True):
        differ, agree = (yes and less) or (no and more), (yes and more) or (no and less)
        yes, no = (agree, differ) if inverted else (differ, agree)
    return yes, no


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

    def add(self, id: int, tree: Tree, schema: Schema) -> None:
        """Index an expression under a free id."""
        self._trees[id] = tree

    def drop(self, id: int) -> None:
        """Remove an id, which is there."""
        del self._trees[id]

    def find(self, event: Event) -> Iterator[int]:
        """The ids whose expressions the event makes true, or could with results of calls, in no
        order."""
        return (id for id, tree in self._trees.items() if possible(tree, event)[0])

    def plan(self, id: int) -> dict[str, object]:
        """How `find` looks for an expression."""
        return {"way": "scan"}

    def stats(self) -> dict[str, object]:
        """Sizes and counts."""
        return {"ways": {"scan": len(self._trees)}}

    def check_invariants(self) -> None:
        """Nothing to check: it is only a dictionary."""
