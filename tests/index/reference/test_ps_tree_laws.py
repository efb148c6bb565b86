"""Laws of the PS-Tree, against plain comparison, on every type and its extremes."""

import sys
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from index.language.types import INT_MAX, INT_MIN, Scalar, Type
from index.reference.elements import elements_of
from index.reference.interval import Interval
from index.reference.ps_nodes import Leaf
from index.reference.ps_tree import PSTree

DOMAINS: dict[Type, st.SearchStrategy[Any]] = {
    Type.BOOL: st.booleans(),
    Type.INT: st.one_of(
        st.integers(-4, 4),
        st.integers(INT_MIN, INT_MAX),
        st.sampled_from([INT_MIN, INT_MIN + 1, INT_MAX - 1, INT_MAX]),
    ),
    Type.FLOAT: st.one_of(
        st.sampled_from([-sys.float_info.max, -5e-324, 0.0, 5e-324, 1.0, sys.float_info.max]),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0),
    ),
    Type.STRING: st.one_of(
        st.text("ab", max_size=4),
        st.text(st.sampled_from("a\ud7ff\ue000\uffff\U0010ffff"), max_size=3),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    ),
}

Members = list[list[Interval]]
Case = tuple[Callable[[Any], tuple[int, ...]], Members, list[Scalar]]


@st.composite
def disjoint(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> list[Interval]:
    """Disjoint intervals between random cuts, open or closed, some without an end."""
    cuts = sorted(draw(st.sets(st.tuples(values, st.booleans()), max_size=6)))
    ends: list[tuple[Any, bool] | None] = list(cuts)
    if draw(st.booleans()):
        ends.insert(0, None)
    if len(ends) % 2:
        ends.append(None)
    intervals = []
    for low, high in zip(ends[::2], ends[1::2], strict=True):
        low_value, low_after = low or (None, True)
        high_value, high_after = high or (None, False)
        intervals.append(Interval(low_value, not low_after, high_value, high_after))
    return intervals


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A type's elements, some members, and values to look up: the boundaries and others."""
    kind = draw(st.sampled_from(list(DOMAINS)))
    values = DOMAINS[kind]
    members = draw(st.lists(disjoint(values), max_size=6))
    bounds = [b for m in members for i in m for b in (i.low, i.high) if b is not None]
    return elements_of(kind), members, bounds + draw(st.lists(values, max_size=6))


def has(interval: Interval, value: Any) -> bool:
    """Plain comparison: the oracle."""
    low, high = interval.low, interval.high
    above = low is None or value > low or (interval.low_closed and value == low)
    return above and (high is None or value < high or (interval.high_closed and value == high))


def grown(elements: Callable[[Any], tuple[int, ...]], members: Members) -> PSTree[int]:
    tree: PSTree[int] = PSTree(elements)
    for key, intervals in enumerate(members):
        tree.insert(key, intervals)
        tree.check_invariants()
    return tree


@given(cases())
def test_locate_agrees_with_interval_membership(case: Case) -> None:
    elements, members, values = case
    tree = grown(elements, members)
    for value in values:
        expected = {key for key, m in enumerate(members) if any(has(i, value) for i in m)}
        assert tree.locate(value).members == expected


@given(cases())
def test_a_value_lies_in_the_space_it_is_located_in(case: Case) -> None:
    elements, members, values = case
    tree = grown(elements, members)
    leaves, spaces = list(tree.leaves()), tree.spaces()
    assert len(leaves) == len(spaces)
    for value in values:
        assert [has(space, value) for space in spaces].count(True) == 1
        assert has(spaces[leaves.index(tree.locate(value))], value)


@given(cases(), st.data())
def test_insert_then_remove_is_identity(case: Case, data: st.DataObject) -> None:
    elements, members, _ = case
    tree = grown(elements, members)
    some = data.draw(st.lists(st.sampled_from(range(len(members))), unique=True)) if members else []
    for key in some:
        tree.remove(key)
        tree.check_invariants()
    expected: PSTree[int] = PSTree(elements)
    for key, intervals in enumerate(members):
        if key not in some:
            expected.insert(key, intervals)
    assert tree.spaces() == expected.spaces()
    assert [x.members for x in tree.leaves()] == [x.members for x in expected.leaves()]
    assert inner_nodes(tree) == inner_nodes(expected)


def inner_nodes(tree: PSTree[int]) -> int:
    stack, count = [tree._root], 0
    while stack:
        count += 1
        stack.extend(stack.pop().children.values())
    return count


@given(cases())
def test_an_emptied_tree_holds_nothing(case: Case) -> None:
    elements, members, _ = case
    tree = grown(elements, members)
    for key in range(len(members)):
        tree.remove(key)
    tree.check_invariants()
    assert len(list(tree.leaves())) == inner_nodes(tree) == 1


@given(cases())
def test_a_split_keeps_the_event_total(case: Case) -> None:
    elements, members, values = case
    tree: PSTree[int] = PSTree(elements)
    for key, intervals in enumerate(members):
        for value in values:
            tree.record(value)
        tree.insert(key, intervals)
        tree.check_invariants()
    for key in range(len(members)):
        tree.remove(key)
        tree.check_invariants()
    assert [leaf.event_count for leaf in tree.leaves()] == [len(values) * len(members)]


@given(cases())
def test_events_matching_counts_what_came_after_the_cuts(case: Case) -> None:
    elements, members, values = case
    tree = grown(elements, members)
    for value in values:
        tree.record(value)
    for intervals in members:
        expected = sum(any(has(i, value) for i in intervals) for value in values)
        assert tree.events_matching(intervals) == expected


@given(cases())
def test_listeners_can_mirror_the_spaces(case: Case) -> None:
    """What is copied on a split and dropped on a merge stays true of every space."""
    elements, members, _ = case
    mirror: dict[int, set[int]] = {1: set()}

    def on_split(old: Leaf[int], new: Leaf[int]) -> None:
        mirror[new.space_id] = set(mirror[old.space_id])

    def on_merge(kept: Leaf[int], gone: Leaf[int]) -> None:
        assert mirror[kept.space_id] == mirror.pop(gone.space_id)

    tree = PSTree(elements, on_split, on_merge)
    for key, intervals in enumerate(members):
        for leaf in tree.insert(key, intervals):
            mirror[leaf.space_id].add(key)
        assert mirror == {leaf.space_id: leaf.members for leaf in tree.leaves()}
    for key in range(len(members)):
        for leaf in tree.covered(key):
            mirror[leaf.space_id].remove(key)
        tree.remove(key)
        assert mirror == {leaf.space_id: leaf.members for leaf in tree.leaves()}
