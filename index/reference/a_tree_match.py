"""Matching with the A-Tree (thesis 9.3.3): from the results of predicates to expressions.

Results rise level by level, with one queue for each level:

    Q3   [S3, S4]     when a node is taken from its queue, everything below it is decided,
    Q2   [or abc]     since levels rise along every edge
    Q1   [Pa, Pd]

* Zero suppression: there are no negations, so only true results can make anything true. False
  and undefined are both "not true", and cost nothing.
* Propagation on demand: an AND is entered through its access child only, and then looks at the
  others. What it sees is final because of the level order: an AND queued by a child at level 1
  waits in its own queue until all levels below it are done.
* Nothing is cleared between events: a node is true if it has the signature of this event.

The plain algorithm (9.3.1), which also takes NOT, XOR and XNOR nodes and propagates false results,
is not here: the normal form has no such nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic

from index.reference.a_tree import ATree
from index.reference.a_tree_expression import L
from index.reference.a_tree_node import Node


class LevelQueues(Generic[L]):
    """A queue for each level; nodes may be added above the level that is being taken."""

    def __init__(self) -> None:
        self._queues: list[list[Node[L]]] = []

    def add(self, node: Node[L]) -> None:
        while len(self._queues) < node.level:
            self._queues.append([])
        self._queues[node.level - 1].append(node)

    def __iter__(self) -> Iterator[Node[L]]:
        for queue in self._queues:  # grows while we walk
            yield from queue


class Matcher(Generic[L]):
    """Section 9.3.3: zero suppression and propagation on demand.

    The signatures live in the nodes: one match at a time on one tree.
    """

    def __init__(self, tree: ATree[L]) -> None:
        self._tree = tree
        self.last_visits = 0
        """Nodes taken out of a queue by the last match."""

    def match(self, satisfied: Iterable[L]) -> set[int]:
        """The expressions that are true when exactly these leaves are."""
        event = object()  # the signature: equal to no earlier one
        queues = LevelQueues[L]()
        for key in satisfied:
            leaf = self._tree.leaf(key)
            if leaf is not None and leaf.true_for is not event:
                leaf.true_for = event
                queues.add(leaf)
        matched: set[int] = set()
        self.last_visits = 0
        for node in queues:
            self.last_visits += 1
            if node.kind == "and":
                if any(child.true_for is not event for child in node.children):
                    continue
                node.true_for = event
            matched |= node.expressions
            for parent in node.access_parents:
                if parent.kind == "and":
                    queues.add(parent)  # once: it has one access child
                elif parent.true_for is not event:
                    parent.true_for = event  # one true child makes an OR true
                    queues.add(parent)
        return matched
