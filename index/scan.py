"""The oracle: try every expression, as it was written, on every event.

This is the meaning of the language and nothing else: no normal form, no sharing, no
index. The other engines are correct if they agree with it, so it shares no code
with them beyond the tree. It takes time proportional to the number of expressions.
"""

from collections.abc import Iterator
from typing import Any

from index.event import Event
from index.language.predicate import Op, Predicate
from index.language.tree import And, Constant, Not, Or, Tree, Xor, children_of


def evaluate(tree: Tree, event: Event) -> bool | None:
    """True, False, or None for unknown: Kleene's three values."""
    if isinstance(tree, Constant):
        return tree.value
    if isinstance(tree, Predicate):
        return _evaluate_predicate(tree, event)
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


def _evaluate_predicate(predicate: Predicate, event: Event) -> bool | None:
    value = event.get(predicate.attribute)
    if predicate.op is Op.IS_NULL:
        return value is None
    if predicate.op is Op.IS_NOT_NULL:
        return value is not None
    if value is None:
        return None
    return bool(_compare(predicate.op, value, predicate.operand))


def _compare(op: Op, value: Any, wanted: Any) -> Any:
    match op:
        case Op.HOLDS:
            return value is True
        case Op.EQ:
            return value == wanted
        case Op.NE:
            return value != wanted
        case Op.LT:
            return value < wanted
        case Op.LE:
            return value <= wanted
        case Op.GT:
            return value > wanted
        case Op.GE:
            return value >= wanted
        case Op.BETWEEN:
            low, high = wanted
            return low <= value <= high
        case Op.IN:
            return value in wanted
        case Op.NOT_IN:
            return value not in wanted
        case Op.STARTS_WITH:
            return value.startswith(wanted)
        case Op.ENDS_WITH:
            return value.endswith(wanted)
        case Op.CONTAINS:
            return wanted in value
        case Op.ANY_OF:
            return any(element in value for element in wanted)
        case Op.NONE_OF:
            return not any(element in value for element in wanted)
        case Op.ALL_OF:
            return all(element in value for element in wanted)
        case Op.IS_EMPTY:
            return len(value) == 0
        case Op.IS_NOT_EMPTY:
            return len(value) > 0
    raise AssertionError(f"{op} has no meaning")


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
