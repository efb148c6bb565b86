"""The input of an A-Tree: an expression as a shared graph.

A graph is a sequence of entries in topological order; the last one is the root. An entry is a
leaf with its key, or a gate with the positions of its children:

    (Pa or Pb) and (Pc or ((Pa or Pb) and Pd))

    0  ("leaf", "Pa")
    1  ("leaf", "Pb")
    2  ("or",   (0, 1))       used twice, written once
    3  ("leaf", "Pc")
    4  ("leaf", "Pd")
    5  ("and",  (2, 4))
    6  ("or",   (3, 5))
    7  ("and",  (2, 6))       the root

There are no negations: the normal form has pushed them into the leaves. Written as a tree, a
chain of a thousand `xor` without negations doubles at every link; as a graph it stays linear. So
the A-Tree is built from the graph, entry by entry, without recursion.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, TypeVar

L = TypeVar("L", bound=Hashable)

GateKind = Literal["and", "or"]
Kind = Literal["leaf", "and", "or"]
Entry = tuple[Literal["leaf"], L] | tuple[GateKind, tuple[int, ...]]
Graph = Sequence[Entry[L]]


class GraphError(ValueError):
    """An entry that breaks the contract of a graph: its position and the reason."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"entry {position}: {reason}")
        self.position = position
        self.reason = reason


def canonical(graph: Graph[L]) -> list[Entry[L]]:
    """The same expression with equal entries merged and unreachable ones dropped.

    In the result no two entries mean the same node, every entry but the root is the child of
    another, and children are in ascending order. Raises `GraphError` for anything that is not a
    flattened graph. Linear in the size of the graph, apart from sorting the children.
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
    """Positions that the root needs. Children come first, so one backward sweep finds them."""
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
    if len(operands) < 2:
        raise GraphError(position, f"{kind} takes two children or more, got {len(operands)}")
    if len(set(operands)) < len(operands):
        raise GraphError(position, f"{kind} has equal children")
    if any(kinds[operand] == kind for operand in operands):
        raise GraphError(position, f"{kind} directly below {kind} is not flattened")
