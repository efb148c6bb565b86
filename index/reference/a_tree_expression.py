"""What an A-Tree is given: an expression as a shared graph.

A graph is a sequence of entries in topological order, the last one being the root.
An entry is a leaf with its key, or a gate with the positions of its children:

    (Pa or Pb) and (Pc xor (Pa or Pb))

    0  ("leaf", "Pa")
    1  ("leaf", "Pb")
    2  ("or",   (0, 1))       used twice, written once
    3  ("leaf", "Pc")
    4  ("xor",  (3, 2))
    5  ("and",  (2, 4))       the root

Written as a tree, a chain of a thousand `xor` without its negations doubles at every link; as
a graph it stays linear. So the tree is built from the graph alone, entry by entry: nothing here
or there recurses over it.

`Leaf` and `Gate` are the same expressions as nested values, for tests and for reading;
`graph_of` turns them into a graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

L = TypeVar("L", bound=Hashable)

GateKind = Literal["and", "or", "not", "xor", "xnor"]
Kind = Literal["leaf", "and", "or", "not", "xor", "xnor"]
Entry = tuple[Literal["leaf"], L] | tuple[GateKind, tuple[int, ...]]
Graph = Sequence[Entry[L]]


class GraphError(ValueError):
    """An entry breaks the contract of a graph: which one, and how."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"entry {position}: {reason}")
        self.position = position
        self.reason = reason


def canonical(graph: Graph[L]) -> list[Entry[L]]:
    """The same expression with equal entries merged and unreachable ones dropped.

    Afterwards two entries never mean the same node, every entry but the root is somebody's
    child, and children stand in ascending order (all five operators are symmetric). Raises
    `GraphError` for anything that is not a flattened graph, before any tree has been touched.
    Linear in the size of the graph, but for the sorting of children.
    """
    reachable = _reachable(graph)
    place: dict[int, int] = {}
    merged: dict[Entry[L], int] = {}
    kinds: list[Kind] = []
    for position, entry in enumerate(graph):
        if position not in reachable:
            continue
        if entry[0] != "leaf":
            kind, children = entry
            operands = tuple(sorted(place[child] for child in children))
            _check_gate(position, kind, operands, kinds)
            entry = (kind, operands)
        place[position] = merged.setdefault(entry, len(merged))
        if len(kinds) < len(merged):
            kinds.append(entry[0])
    return list(merged)


def _reachable(graph: Graph[L]) -> set[int]:
    """Positions that the root needs; children come first, so one sweep backwards finds them."""
    if not graph:
        raise GraphError(0, "a graph needs at least one entry")
    reachable = {len(graph) - 1}
    for position in range(len(graph) - 1, -1, -1):
        entry = graph[position]
        if position not in reachable or entry[0] == "leaf":
            continue
        for child in entry[1]:
            if not 0 <= child < position:
                raise GraphError(position, f"child {child} does not come before it")
            reachable.add(child)
    return reachable


def _check_gate(
    position: int, kind: GateKind, operands: tuple[int, ...], kinds: Sequence[Kind]
) -> None:
    if kind == "not":
        if len(operands) != 1:
            raise GraphError(position, f"not takes one child, got {len(operands)}")
    elif len(operands) < 2:
        raise GraphError(position, f"{kind} takes two children or more, got {len(operands)}")
    if kind in ("and", "or"):
        if len(set(operands)) < len(operands):
            raise GraphError(position, f"{kind} has equal children")
        if any(kinds[operand] == kind for operand in operands):
            raise GraphError(position, f"{kind} directly below {kind} is not flattened")


@dataclass(frozen=True, slots=True)
class Leaf(Generic[L]):
    """A predicate (in production a signed literal); equal keys are the same predicate."""

    key: L


@dataclass(frozen=True, slots=True)
class Gate(Generic[L]):
    """An operator over expressions; `xor` and `xnor` of more than two fold left to right."""

    kind: GateKind
    children: tuple[Expression[L], ...]


Expression = Leaf[L] | Gate[L]


def graph_of(expression: Expression[L]) -> list[Entry[L]]:
    """A nested expression as a graph: equal parts shared, `and` and `or` flattened.

    Recursive, so only as deep as Python's stack: production builds its graphs itself.
    """
    places: dict[Entry[L], int] = {}
    entries: list[Entry[L]] = []

    def put(entry: Entry[L]) -> int:
        if entry not in places:
            places[entry] = len(entries)
            entries.append(entry)
        return places[entry]

    def flattened(kind: GateKind, child: int) -> tuple[int, ...]:
        entry = entries[child]
        if entry[0] != "leaf" and entry[0] == kind and kind in ("and", "or"):
            return entry[1]
        return (child,)

    def place(part: Expression[L]) -> int:
        if isinstance(part, Leaf):
            return put(("leaf", part.key))
        operands = sorted(
            operand for child in part.children for operand in flattened(part.kind, place(child))
        )
        if part.kind in ("and", "or"):
            operands = sorted(set(operands))
            if len(operands) == 1:  # x and x is x, also when x is unknown
                return operands[0]
        return put((part.kind, tuple(operands)))

    root = place(expression)
    return entries[: root + 1]
