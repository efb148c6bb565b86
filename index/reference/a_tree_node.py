"""One node of the A-Tree (thesis 9.1): a predicate, a subexpression or a whole expression.

A gate has two sets of nodes below it, and the difference between them is the heart of the
A-Tree:

    Pa or Pb or Pc or Pd, in a tree that also holds Pa or Pb or Pc

              (or abcd)                 members:  a b c d         what it means, for ever
               /     \\                  children: (or abc) d      how it is built, for now
          (or abc)    d
          /  |  \\
         a   b   c

* `members`: the children of the flattened expression. They identify the node, they never
  change, and they are what it *uses*: each counts in its `use_count`.
* `children`: the physical links that reorganisation chose. They may run through other nodes of
  the same kind, overlap, and change whenever a better node arrives or one leaves. Borrowing a
  node as a physical child is no use of it, and does not keep it alive.

Upwards there are two lists as well. `parents` mirrors `children` in full; building needs it and
matching does not. `access_parents` holds the links that a true result follows: every OR
parent, and those AND parents that are entered through this node (9.3.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal

from index.reference.a_tree_expression import GateKind, Kind, L

LEAF_LEVEL = 1


@dataclass(eq=False, slots=True, repr=False)
class Node(Generic[L]):
    """Compared by identity: the tree sees to it that there is one node for one meaning."""

    number: int
    """The order of arrival, never given twice: the deterministic way out of every tie."""
    key: NodeKey[L]
    rank: float
    """How often it is true, roughly; smaller is rarer. Only chooses access children."""

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
    """The signature of the last event that it was true for (9.3.3); matching alone writes it."""

    def __post_init__(self) -> None:
        self.kind = self.key[0]
        self.operands = () if self.key[0] == "leaf" else self.key[1]
        self.members = frozenset(self.operands)

    def __repr__(self) -> str:
        if self.kind == "leaf":
            return f"<{self.number}: {self.key[1]!r}>"
        return f"<{self.number}: {self.kind} of {[node.number for node in self.operands]}>"

    def take_children(self, children: set[Node[L]]) -> None:
        """Make `children` the physical ones, and keep the links upwards in step.

        The levels are left alone: see `settle_levels`.
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
        """The child that is least often true: the thesis takes one at random (9.3.3)."""
        if self.access_child is not None:
            self.access_child.access_parents.discard(self)
        self.access_child = min(
            self.children, key=lambda child: (child.rank, child.number), default=None
        )
        if self.access_child is not None:
            self.access_child.access_parents.add(self)


NodeKey = tuple[Literal["leaf"], L] | tuple[GateKind, tuple[Node[L], ...]]
"""What a node means: the structure itself, never a hash of it, which two could share."""


def combined_rank(kind: GateKind, operands: tuple[Node[L], ...]) -> float:
    """An AND is no more frequent than its rarest operand, an OR no more than the sum of its
    operands. Based on the operands, not the physical children, so it never changes."""
    ranks = [operand.rank for operand in operands]
    return min(ranks) if kind == "and" else sum(ranks)
