"""The two kinds of nodes of a PS-Tree, and how to walk the inner ones.

An inner node is one element of a value, so the path from the root spells a value. A node that
*carries* its value has links to leaf nodes:

                 l        e        g
                 ↓        ↓        ↓          where values just below it, the value
             ───────┐ ┌───────┐ ┌───────      itself, and values just above it live
                    v BEFORE  v AFTER

    l is e     exactly when no member has a boundary BEFORE the value
    e is g     exactly when no member has a boundary AFTER it
    `uses`     counts the boundaries; a node with none carries nothing

Other inner nodes only lead to their children. Order: a node's own value, then those below
its children, ascending. That is how a string comes before the strings it is a prefix of,
and it is what algorithms 5, 6 and 11 of the thesis miss: the first carrier to the right of
a value may be *below* the node where the value's path ends.

The root is an inner node whose l is the last leaf and whose g is the first, so "no carrier
to the right" is the root itself, and its l is the answer all the same.
"""

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from index.language.types import Scalar
from index.reference.elements import Elements

Key = TypeVar("Key", bound=Hashable)


@dataclass(eq=False, slots=True)
class Leaf(Generic[Key]):
    """A predicate space: the members that cover it, and the past events in it.

    The predicate counter of the thesis is `len(members)`. Ids are never reused.
    """

    space_id: int
    members: set[Key] = field(default_factory=set)
    event_count: int = 0
    next: "Leaf[Key] | None" = None


@dataclass(eq=False, slots=True)
class Inner(Generic[Key]):
    """One element of the values that cut the domain; `order` holds its children's elements."""

    value: Scalar | None = None
    l: Leaf[Key] | None = None  # noqa: E741, the thesis's name
    e: Leaf[Key] | None = None
    g: Leaf[Key] | None = None
    uses: list[int] = field(default_factory=lambda: [0, 0])
    children: "dict[int, Inner[Key]]" = field(default_factory=dict)
    order: list[int] = field(default_factory=list)


Path = list[tuple[Inner[Key], int]]
"""The nodes from the root down to a value, each with the element taken there."""


def find(root: Inner[Key], elements: Elements) -> tuple[Path[Key], Inner[Key] | None]:
    """Walk down as far as nodes exist; None if the path breaks off."""
    path: Path[Key] = []
    node = root
    for element in elements:
        path.append((node, element))
        child = node.children.get(element)
        if child is None:
            return path, None
        node = child
    return path, node


def grow(root: Inner[Key], elements: Elements) -> tuple[Path[Key], Inner[Key]]:
    """Walk down and create missing nodes (the first half of Partition, algorithm 5)."""
    path: Path[Key] = []
    node = root
    for element in elements:
        path.append((node, element))
        child = node.children.get(element)
        if child is None:
            child = node.children[element] = Inner()
            insort(node.order, element)
        node = child
    return path, node


def prune(path: Path[Key]) -> None:
    """Remove, from the bottom up, the nodes of a path that carry and lead to nothing."""
    for parent, element in reversed(path):
        node = parent.children[element]
        if node.children or node.e is not None:
            return
        del parent.children[element]
        del parent.order[bisect_right(parent.order, element) - 1]


def right_carrier(path: Path[Key], node: Inner[Key] | None) -> Inner[Key]:
    """The carrier of the least value above the one at the end of a path, or the root.

    `node` is where the path ends, if it does not break off.
    """
    return _least_carrier(_right_node(path, node))


def _right_node(path: Path[Key], node: Inner[Key] | None) -> Inner[Key]:
    """The node next to the right, or the root (GetRNode, algorithm 6)."""
    if node is not None and node.order:
        return node.children[node.order[0]]
    for parent, element in reversed(path):
        position = bisect_right(parent.order, element)
        if position < len(parent.order):
            return parent.children[parent.order[position]]
    root, _ = path[0]
    return root


def _least_carrier(node: Inner[Key]) -> Inner[Key]:
    """The carrier of the least value at or below a node (GetLNode, algorithm 7)."""
    while node.l is None:
        node = node.children[node.order[0]]
    return node


def set_left(node: Inner[Key], leaf: Leaf[Key]) -> None:
    """Change the leaf below a carrier's value (or the root's last leaf).

    The value itself is in that leaf too if nothing cuts BEFORE it; algorithm 9 omits that.
    """
    if node.e is node.l:
        node.e = leaf
    node.l = leaf


def carriers(root: Inner[Key]) -> Iterator[Inner[Key]]:
    """All carriers in the order of their values. No recursion: strings are deep."""
    stack = [root.children[element] for element in reversed(root.order)]
    while stack:
        node = stack.pop()
        if node.e is not None:
            yield node
        stack.extend(node.children[element] for element in reversed(node.order))


def chain(first: Leaf[Key] | None, last: Leaf[Key] | None) -> Iterator[Leaf[Key]]:
    """The leaves from one to another, both included."""
    leaf = first
    while leaf is not None:
        yield leaf
        if leaf is last:
            return
        leaf = leaf.next
