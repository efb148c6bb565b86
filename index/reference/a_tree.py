"""The A-Tree (Ji and Jacobsen, chapter 9): many Boolean expressions as one shared graph.

Every distinct predicate, subexpression and expression is one node. Figure 9.1.1 of the thesis,
with S1 = (Pa or Pb or Pc) and Pd and (Pe or Pf) and S2 = (Pe or Pf) and (Pg or Ph):

    level 3         S1 and            S2 and
                   /  |   \\           /     \\
    level 2      or   |     `--- or -'       or
                / | \\ |         /  \\        /  \\
    level 1    a  b  c d       e    f      g    h

13 nodes and 12 edges: it costs 25. Inserting Pa or Pb or Pc or Pd then adds one node and two
edges, since the OR of three is there; inserting (Pa or Pb or Pc) and Pd makes that a child of
S1, in place of two. `a_tree_node` explains the two kinds of children that this needs,
`a_tree_reorganise` how they are chosen, and `a_tree_match` how events are matched.

Invariants (checked by `check_invariants`):

* one node for one meaning: the table is keyed by the flattened structure;
* a node's physical children flatten to its members, and are the cover that reorganisation
  would choose now;
* `parents` mirrors `children`; of an AND exactly one child, the access child, has it in its
  `access_parents`, of an OR all have;
* a level is one more than the highest child's, a leaf's is 1;
* `use_count` is the number of expressions whose root the node is, plus the number of nodes that
  have it among their *members*. It is never 0, so there are no orphans, and a tree without
  expressions is empty. Borrowing by reorganisation does not count.

Neither insertion nor removal recurses, so depth is bounded by memory only. Inserting visits, for
each new gate, the nodes that share members with it. This is slow for a predicate that half of the
tree uses; the native core bounds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic

from index.reference.a_tree_expression import Graph, L, canonical
from index.reference.a_tree_invariants import check_invariants
from index.reference.a_tree_node import Node, NodeKey, combined_rank
from index.reference.a_tree_reorganise import (
    adjust_to_arrival,
    adjust_to_departure,
    reorganise,
    settle_levels,
)


def _nothing_known(_: object) -> float:
    return 0.0


def _ignore(_: object) -> None:
    return None


class ATree(Generic[L]):
    """Expressions by id, over leaves of any hashable kind.

    `rank` gives how often a leaf is true, smaller is rarer. It is called once, when the leaf is
    added, and changes the cost of matching, never the result. `on_new_leaf` and `on_gone_leaf`
    are called when a leaf is added and removed. None of the three may raise or call the tree.
    """

    def __init__(
        self,
        rank: Callable[[L], float] = _nothing_known,
        on_new_leaf: Callable[[L], None] = _ignore,
        on_gone_leaf: Callable[[L], None] = _ignore,
    ) -> None:
        self._rank = rank
        self._on_new_leaf = on_new_leaf
        self._on_gone_leaf = on_gone_leaf
        self._nodes: dict[NodeKey[L], Node[L]] = {}
        """The expression-to-node table of 9.2.1, leaves included."""
        self._roots: dict[int, Node[L]] = {}
        self._arrivals = 0

    def insert(self, expression_id: int, graph: Graph[L]) -> None:
        """Algorithm 22, bottom-up over the graph. Replaces the expression with that id.

        Raises `GraphError`, and changes nothing, if the graph is malformed.
        """
        nodes: list[Node[L]] = []
        for entry in canonical(graph):
            if entry[0] == "leaf":
                nodes.append(self._node(entry))
            else:
                operands = sorted((nodes[child] for child in entry[1]), key=lambda n: n.number)
                nodes.append(self._node((entry[0], tuple(operands))))
        root = nodes[-1]
        # The new one first, so that what both share is not removed in between.
        root.use_count += 1
        self.remove(expression_id)
        root.expressions.add(expression_id)
        self._roots[expression_id] = root

    def remove(self, expression_id: int) -> bool:
        """Algorithm 23. True if it was there."""
        root = self._roots.pop(expression_id, None)
        if root is None:
            return False
        root.expressions.discard(expression_id)
        released = [root]
        while released:
            node = released.pop()
            node.use_count -= 1
            if node.use_count == 0:
                self._forget(node)
                released.extend(node.members)
        return True

    def cost(self) -> int:
        """Nodes plus edges (9.1), which reorganisation tries to keep low."""
        return len(self._nodes) + sum(len(node.children) for node in self._nodes.values())

    def leaf(self, key: L) -> Node[L] | None:
        """The node of a predicate, if an expression uses it."""
        return self._nodes.get(("leaf", key))

    def leaves(self) -> Iterator[L]:
        """The keys of all leaves, oldest first."""
        return (key[1] for key in self._nodes if key[0] == "leaf")

    def nodes(self) -> Iterator[Node[L]]:
        """All nodes, oldest first; leaves among them."""
        return iter(self._nodes.values())

    def root(self, expression_id: int) -> Node[L]:
        """The root node of an expression; `KeyError` if the id is unknown."""
        return self._roots[expression_id]

    def __contains__(self, expression_id: object) -> bool:
        return expression_id in self._roots

    def __len__(self) -> int:
        return len(self._roots)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken. Slow."""
        check_invariants(self._nodes, self._roots)

    def _node(self, key: NodeKey[L]) -> Node[L]:
        """The node with that structure (algorithm 19), created if it is new."""
        known = self._nodes.get(key)
        if known is not None:
            return known
        self._arrivals += 1
        if key[0] == "leaf":
            node = Node(self._arrivals, key, self._rank(key[1]))
            self._on_new_leaf(key[1])
        else:
            node = Node(self._arrivals, key, combined_rank(*key))
            self._connect(node)
        self._nodes[key] = node
        return node

    def _connect(self, node: Node[L]) -> None:
        """The second half of algorithm 22: reorganise the new gate, adjust the others to it."""
        for member in node.members:
            member.use_count += 1
        reorganise(node)
        settle_levels([node])
        adjust_to_arrival(node)

    def _forget(self, node: Node[L]) -> None:
        """Remove an unused node; the caller releases its members."""
        adjust_to_departure(node)
        del self._nodes[node.key]
        if node.key[0] == "leaf":
            self._on_gone_leaf(node.key[1])
