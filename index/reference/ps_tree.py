"""PS-Tree: which predicate space of an attribute does a value fall in?

Predicates cut an attribute's domain wherever one of them begins or ends; the pieces
between the cuts are *predicate spaces*. All values of a space satisfy the same predicates,
so finding a value's space finds all the predicates that are true of it (chapter 6).

The tree after `in [-5, -1]` and `in [1, 5]` over bytes (figure 6.1b). Inner nodes are
elements of the values at the cuts, leaf nodes are the spaces, chained in order:

                          root                  g: first leaf A, l: last leaf E
                       /        \\
                    "-"          "+"
                     7            0
                   /   \\        /   \\
                 11     15      1     5
    value        -5     -1      1     5         of the nodes that carry one
    l, e, g      ABB    BBC    CDD   DDE        leaves below, at and above the value

    leaves   A [-128, -5) → B [-5, -1] → C (-1, 1) → D [1, 5] → E (5, 127]
    members      ∅            S1            ∅           S2         ∅

Invariants, for the links of `ps_nodes.py`: neighbouring carriers a < b share the leaf
between them, a.g is b.l; the first carrier's l is the first leaf, which never changes; the
last carrier's g is the last leaf; an inner node other than the root carries a value or has
children; the members of a leaf are those that have an interval over it; the leaves' event
counters add up to the events recorded.

A space may contain no values, such as (3, 4) over integers: nothing is located there, and it
disappears with its cuts.

Costs, for E elements in a value and S spaces covered: `locate` O(E); `insert` and `remove`
O(E + S) for each interval, plus copying the members of the spaces that split.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic

from index.language.types import Scalar
from index.reference.elements import Elements
from index.reference.interval import AFTER, BEFORE, Cut, Interval, between, check_disjoint, cuts
from index.reference.ps_invariants import check_invariants
from index.reference.ps_nodes import (
    Inner,
    Key,
    Leaf,
    Path,
    carriers,
    chain,
    find,
    grow,
    prune,
    right_carrier,
    set_left,
)


class PSTree(Generic[Key]):
    """The predicate spaces of one attribute and the members that cover them.

    `on_split(old, new)` is called when `new`, with the same members, was cut off `old`;
    `on_merge(kept, gone)` when `gone` was merged into `kept`, which had the same members.

    >>> from index.reference.elements import int_elements
    >>> tree: PSTree[str] = PSTree(int_elements)
    >>> _ = tree.insert("young", [Interval(18, True, 30, False)])
    >>> print(*tree.spaces())
    (-∞, 18) [18, 30) [30, ∞)
    >>> tree.locate(20).members
    {'young'}
    """

    def __init__(
        self,
        elements: Callable[[Any], Elements],
        on_split: Callable[[Leaf[Key], Leaf[Key]], None] = lambda old, new: None,
        on_merge: Callable[[Leaf[Key], Leaf[Key]], None] = lambda kept, gone: None,
    ) -> None:
        self._elements = elements
        self._on_split = on_split
        self._on_merge = on_merge
        self._last_id = 0
        self._intervals: dict[Key, tuple[Interval, ...]] = {}
        whole = self._new_leaf()
        self._root: Inner[Key] = Inner(l=whole, g=whole)
        self.events = 0
        """The number of recorded values."""

    # ---- asking -------------------------------------------------------------------------

    def locate(self, value: Scalar) -> Leaf[Key]:
        """The space that a value falls in (MatchPair, algorithm 11)."""
        path, node = find(self._root, self._elements(value))
        if node is not None and node.e is not None:
            return node.e
        leaf = right_carrier(path, node).l
        assert leaf is not None
        return leaf

    def record(self, value: Scalar) -> None:
        """Count one event that has this value."""
        self.locate(value).event_count += 1
        self.events += 1

    def events_matching(self, intervals: Iterable[Interval]) -> float:
        """An estimate of how many past events a predicate was true of.

        Exact if the bounds were cuts already when the events came. A bound inside a space takes
        half of its events, as inserting it would.
        """
        total = 0.0
        for interval in intervals:
            below, first, last, above = self._span(interval)
            for leaf in chain(first, last):
                total += leaf.event_count * 0.5 ** ((leaf is below) + (leaf is above))
        return min(total, self.events)

    def covered(self, key: Key) -> list[Leaf[Key]]:
        """The spaces that a member covers."""
        leaves: list[Leaf[Key]] = []
        for interval in self._intervals[key]:
            _, first, last, _ = self._span(interval)
            leaves.extend(chain(first, last))
        return leaves

    def leaves(self) -> Iterator[Leaf[Key]]:
        """All spaces, in order."""
        return chain(self._root.g, self._root.l)

    def spaces(self) -> list[Interval]:
        """All spaces, in order, as intervals."""
        ends: list[Cut | None] = [None]
        for node in carriers(self._root):
            assert node.value is not None
            ends += [(node.value, side) for side in (BEFORE, AFTER) if node.uses[side]]
        return [between(*pair) for pair in zip(ends, [*ends[1:], None], strict=True)]

    def __len__(self) -> int:
        return len(self._intervals)

    def __contains__(self, key: Key) -> bool:
        return key in self._intervals

    # ---- inserting ----------------------------------------------------------------------

    def insert(self, key: Key, intervals: Iterable[Interval]) -> list[Leaf[Key]]:
        """Add a member with its disjoint intervals (algorithm 4); returns the spaces it covers."""
        intervals = tuple(intervals)
        if key in self._intervals:
            raise ValueError(f"{key!r} is in the tree already")
        check_disjoint(intervals, self._elements)
        for cut in cuts(intervals):
            self._cut(*cut)
        self._intervals[key] = intervals
        leaves = self.covered(key)
        for leaf in leaves:
            leaf.members.add(key)
        return leaves

    def _cut(self, value: Scalar, side: int) -> None:
        """Count a use of a cut; a new cut splits the space around it (Partition, algorithm 5)."""
        path, node = grow(self._root, self._elements(value))
        node.uses[side] += 1
        if node.uses[side] > 1:
            return
        if node.e is None:
            self._split_at_new_carrier(path, node, value, side)
        else:
            self._split_off_point(node)

    def _split_at_new_carrier(
        self, path: Path[Key], node: Inner[Key], value: Scalar, side: int
    ) -> None:
        """The first cut at a value (PartitionLeafNode, algorithm 9).

        The new leaf is the right part. So only the carrier to the right, or else the root, gets
        another leaf below it; all carriers to the left keep their links.
        """
        right = right_carrier(path, node)
        old = right.l
        assert old is not None
        new = self._half_of(old)
        old.next, new.next = new, old.next
        set_left(right, new)
        node.value, node.l, node.g = value, old, new
        node.e = new if side == BEFORE else old
        self._on_split(old, new)

    def _split_off_point(self, node: Inner[Key]) -> None:
        """The second cut at a value (PartitionLeafNode, algorithm 8): e becomes the point.

        For = the thesis creates a new *right* part here and does not update the l of the carrier
        to the right. Here the point is linked from this node only, whichever cut came second.
        """
        old = node.e
        assert old is not None
        assert node.l is not None
        point = self._half_of(old)
        node.e = node.l.next = point
        point.next = node.g
        self._on_split(old, point)

    def _half_of(self, old: Leaf[Key]) -> Leaf[Key]:
        """A new leaf with the same members and half of the events.

        The thesis copies the event counter. Splits and merges would then inflate it without
        bound while predicates come and go; halves keep the total.
        """
        new = self._new_leaf()
        new.members = set(old.members)
        new.event_count = old.event_count // 2
        old.event_count -= new.event_count
        return new

    # ---- removing -----------------------------------------------------------------------

    def remove(self, key: Key) -> list[Leaf[Key]]:
        """Remove a member and release its cuts (DeletePredicate, algorithm 12).

        Returns the spaces that it covered; some may have been merged into others.
        """
        leaves = self.covered(key)
        for leaf in leaves:
            leaf.members.remove(key)
        for cut in cuts(self._intervals.pop(key)):
            self._uncut(*cut)
        return leaves

    def _uncut(self, value: Scalar, side: int) -> None:
        """Release a cut; the last release undoes `_cut`, link by link.

        The spaces on both sides have the same members then: none ends between them.
        """
        path, node = find(self._root, self._elements(value))
        assert node is not None
        node.uses[side] -= 1
        if node.uses[side] > 0:
            return
        assert node.l is not None
        if any(node.uses):
            kept, gone = (node.l if side == BEFORE else node.g), node.e
            node.e, node.l.next = kept, node.g
        else:
            kept, gone = node.l, node.g
            kept.next = gone.next if gone else None
            set_left(right_carrier(path, node), kept)
            node.value = node.l = node.e = node.g = None
            prune(path)
        assert kept is not None
        assert gone is not None
        kept.event_count += gone.event_count
        self._on_merge(kept, gone)

    # ---- inside -------------------------------------------------------------------------

    def _new_leaf(self) -> Leaf[Key]:
        self._last_id += 1
        return Leaf(self._last_id)

    def _span(self, interval: Interval) -> tuple[Leaf[Key] | None, ...]:
        """The first and last leaf of an interval, with the leaves just outside of it:
        (below, first, last, above). A bound that is not a cut has the same leaf on both
        sides, and the end of the domain has None outside.
        """
        low, high = interval.low_cut, interval.high_cut
        left = (None, self._root.g) if low is None else self._beside(*low)
        right = (self._root.l, None) if high is None else self._beside(*high)
        return *left, *right

    def _beside(self, value: Scalar, side: int) -> tuple[Leaf[Key] | None, Leaf[Key] | None]:
        """The leaves to the left and right of a cut; the same leaf if the cut is unused."""
        path, node = find(self._root, self._elements(value))
        if node is not None and node.e is not None:
            return (node.l, node.e) if side == BEFORE else (node.e, node.g)
        leaf = right_carrier(path, node).l
        return leaf, leaf

    def check_invariants(self) -> None:
        """Raise `AssertionError` if an invariant is broken."""
        check_invariants(self._root, self._intervals, self.covered, self.events)
