"""One node of the A-Tree (thesis 9.1): a predicate, a subexpression or a whole expression.

A gate has two sets of nodes below it. Their difference is the key idea of the A-Tree:

    Pa or Pb or Pc or Pd, in a tree that also holds Pa or Pb or Pc

              (or abcd)                 members:  a b c d         what it means, fixed
               /     \\                  children: (or abc) d      how it is built, changes
          (or abc)    d
          /  |  \\
         a   b   c

* `members`: the children of the flattened expression. They identify the node, they never
  change, and they are what it *uses*: each counts in its `use_count`.
* `children`: the physical links that reorganisation chose. They may go through other nodes of
  the same kind, overlap, and change whenever a better node is added or one is removed. Borrowing
  a node as a physical child does not count as a use and does not keep it alive.

There are two sets of upward links as well. `parents` mirrors `children`; only building needs it.
`access_parents` has the links that a true result follows: every OR parent, and the AND parents
that are entered through this node (9.3.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal

from index.reference.a_tree_expression import GateKind, Kind, L

LEAF_LEVEL = 1


@dataclass(eq=False, slots=True, repr=False)
class Node(Generic[L]):
    """Compared by identity: the tree has one node for one meaning."""

    number: int
    """The order of arrival, unique; it breaks ties."""
    key: NodeKey[L]
    rank: float
    """Roughly how often it is true; smaller is rarer. Used to choose access children only."""

    kind: Kind = field(init=False)
    operands: tuple[Node[L], ...] = field(init=False)
    """The logical children, by number."""
    members: frozenset[Node[L]] = field(init=False)
    """The operands as a set."""
    children: set[Node[L]] = field(default_factory=set)
    parents: set[Node[L]] = field(default_factory=set)
    access_child: Node[L] | None = None
    access_parents: set[Node[L]] = field(default_factory=set)
    level: int = LEAF_LEVEL
    use_count: int = 0
    """The expressions that it is the root of, and the nodes that have it among their members."""
    expressions: set[int] = field(default_factory=set)
    true_for: object = None
    """The signature of the last event that it was true for (9.3.3); written by matching only."""

    def __post_init__(self) -> None:
        self.kind = self.key[0]
        self.operands = () if self.key[0] == "leaf" else self.key[1]
        self.members = frozenset(self.operands)

    def __repr__(self) -> str:
        if self.kind == "leaf":
            return f"<{self.number}: {self.key[1]!r}>"
        return f"<{self.number}: {self.kind} of {[node.number for node in self.operands]}>"

    def take_children(self, children: set[Node[L]]) -> None:
        """Set the physical children and update the upward links.

        Does not change levels: see `settle_levels`.
        """
        for child in self.children - children:
            child.parents.discard(self)
            child.access_parents.discard(self)
        for child in children - self.children:
            child.parents.add(self)
            if self.kind == "or":
                child.access_parents.add(self)
        self.children = children
        if self.kind == "and":
            self._choose_access_child()

    def _choose_access_child(self) -> None:
        """The child that is true least often; the thesis takes a random one (9.3.3)."""
        if self.access_child is not None:
            self.access_child.access_parents.discard(self)
        self.access_child = min(
            self.children, key=lambda child: (child.rank, child.number), default=None
        )
        if self.access_child is not None:
            self.access_child.access_parents.add(self)


NodeKey = tuple[Literal["leaf"], L] | tuple[GateKind, tuple[Node[L], ...]]
"""The structure that identifies a node; not a hash, which two structures could share."""


def combined_rank(kind: GateKind, operands: tuple[Node[L], ...]) -> float:
    """An AND is no more frequent than its rarest operand, an OR no more than the sum of its
    operands. Based on the operands, not the physical children, so it never changes."""
    ranks = [operand.rank for operand in operands]
    return min(ranks) if kind == "and" else sum(ranks)
