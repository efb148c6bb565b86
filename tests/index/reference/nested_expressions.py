"""Expressions for an A-Tree as nested values, which are easier to write than graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from hypothesis import strategies as st

from index.reference.a_tree_expression import Entry, GateKind, L


@dataclass(frozen=True, slots=True)
class Leaf(Generic[L]):
    """A predicate; equal keys are the same predicate."""

    key: L


@dataclass(frozen=True, slots=True)
class Gate(Generic[L]):
    """An operator over expressions."""

    kind: GateKind
    children: tuple[Expression[L], ...]


Expression = Leaf[L] | Gate[L]


def graph_of(expression: Expression[L]) -> list[Entry[L]]:
    """A nested expression as a graph: equal parts shared, gates flattened."""
    places: dict[Entry[L], int] = {}
    entries: list[Entry[L]] = []

    def put(entry: Entry[L]) -> int:
        if entry not in places:
            places[entry] = len(entries)
            entries.append(entry)
        return places[entry]

    def flattened(kind: GateKind, child: int) -> tuple[int, ...]:
        entry = entries[child]
        return entry[1] if entry[0] != "leaf" and entry[0] == kind else (child,)

    def place(part: Expression[L]) -> int:
        if isinstance(part, Leaf):
            return put(("leaf", part.key))
        operands = sorted(
            {operand for child in part.children for operand in flattened(part.kind, place(child))}
        )
        if len(operands) == 1:  # x and x is x
            return operands[0]
        return put((part.kind, tuple(operands)))

    root = place(expression)
    return entries[: root + 1]


Wish = Expression[str]


def all_of(*children: str | Wish) -> Wish:
    return _gate("and", children)


def any_of(*children: str | Wish) -> Wish:
    return _gate("or", children)


def _gate(kind: GateKind, children: tuple[str | Wish, ...]) -> Wish:
    return Gate(kind, tuple(Leaf(c) if isinstance(c, str) else c for c in children))


KEYS = "abcdef"

flat: st.SearchStrategy[Wish] = st.builds(
    lambda kind, keys: Gate(kind, tuple(Leaf(key) for key in keys)),
    st.sampled_from(["and", "or"]),
    st.lists(st.sampled_from(KEYS), min_size=2, max_size=5, unique=True),
)


def nested(max_leaves: int) -> st.SearchStrategy[Wish]:
    """Flat gates, and gates of gates."""
    leaves: st.SearchStrategy[Wish] = st.sampled_from(KEYS).map(lambda key: Leaf(key))

    def gates(children: st.SearchStrategy[Wish]) -> st.SearchStrategy[Wish]:
        several = st.lists(children, min_size=2, max_size=4).map(tuple)
        return st.builds(Gate, st.sampled_from(["and", "or"]), several)

    return st.one_of(flat, st.recursive(leaves | flat, gates, max_leaves=max_leaves))
