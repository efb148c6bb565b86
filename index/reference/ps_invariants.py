"""The invariants of a PS-Tree, which tests check after every step.

The links are followed from left to right: each carrier must begin with the leaf that the one
before it ended with. Cuts, members and events are then counted again from the intervals.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from index.reference.interval import AFTER, BEFORE, Cut, Interval, cuts
from index.reference.ps_nodes import Inner, Key, Leaf, carriers, chain


def check_invariants(
    root: Inner[Key],
    intervals: Mapping[Key, Iterable[Interval]],
    covered: Callable[[Key], Iterable[Leaf[Key]]],
    events: int,
) -> None:
    """Raise `AssertionError` if an invariant of `ps_tree` or `ps_nodes` is broken."""
    _check_nodes(root)
    _check_links(root)
    _check_cuts(root, intervals)
    leaves = list(chain(root.g, root.l))
    _check_members(leaves, intervals, covered)
    assert len({leaf.space_id for leaf in leaves}) == len(leaves)
    assert sum(leaf.event_count for leaf in leaves) == events


def _check_nodes(root: Inner[Key]) -> None:
    stack = [root]
    while stack:
        node = stack.pop()
        assert node.order == sorted(node.children)
        assert node is root or node.order or node.e, "a node carries and leads to nothing"
        stack.extend(node.children.values())


def _check_links(root: Inner[Key]) -> None:
    left = root.g
    for node in carriers(root):
        assert node.l is left, f"the carrier of {node.value!r} does not begin where the last ended"
        assert any(node.uses), f"{node.value!r} is carried without a use"
        assert (node.l is node.e) == (node.uses[BEFORE] == 0)
        assert (node.e is node.g) == (node.uses[AFTER] == 0)
        for one, other in pairwise((node.l, node.e, node.g)):
            assert one is not None
            assert other is not None
            assert one is other or one.next is other
        left = node.g
    assert left is not None
    assert left is root.l
    assert left.next is None


def _check_cuts(root: Inner[Key], intervals: Mapping[Key, Iterable[Interval]]) -> None:
    used: Counter[Cut] = Counter()
    for member in intervals.values():
        used.update(cuts(member))
    for node in carriers(root):
        assert node.value is not None
        for side in (BEFORE, AFTER):
            assert node.uses[side] == used.pop((node.value, side), 0)
    assert not used, f"members end where nothing is cut: {used}"


def _check_members(
    leaves: Iterable[Leaf[Key]],
    keys: Iterable[Key],
    covered: Callable[[Key], Iterable[Leaf[Key]]],
) -> None:
    members: dict[Leaf[Key], set[Key]] = {leaf: set() for leaf in leaves}
    for key in keys:
        for leaf in covered(key):
            assert key not in members[leaf], f"{key!r} covers space {leaf.space_id} twice"
            members[leaf].add(key)
    for leaf, expected in members.items():
        assert leaf.members == expected, f"space {leaf.space_id} has the wrong members"
