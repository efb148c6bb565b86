"""PS-Tree: the thesis's examples, the errata, and the result of each operation."""

from functools import partial

import pytest

from index.language.types import Scalar
from index.reference.elements import BYTE, int_elements, string_elements
from index.reference.interval import Interval, point
from index.reference.ps_tree import PSTree

byte_elements = partial(int_elements, widths=BYTE)


def closed(low: Scalar, high: Scalar) -> Interval:
    return Interval(low, True, high, True)


def figure_6_1_b() -> PSTree[str]:
    tree: PSTree[str] = PSTree(byte_elements)
    tree.insert("S1", [closed(-5, -1)])
    tree.insert("S2", [closed(1, 5)])
    return tree


def members(tree: PSTree[str]) -> list[set[str]]:
    return [leaf.members for leaf in tree.leaves()]


def written(tree: PSTree[str], low: str, high: str) -> list[str]:
    """The spaces as the thesis writes them, with the ends of the domain."""
    spaces = map(str, tree.spaces())
    return [space.replace("(-∞", low).replace("∞)", high).replace(" ", "") for space in spaces]


# ---- the thesis's examples ----------------------------------------------------------------


def test_figure_6_1_b_has_five_spaces() -> None:
    tree = figure_6_1_b()
    assert written(tree, "[-128", "127]") == [
        "[-128,-5)",
        "[-5,-1]",
        "(-1,1)",
        "[1,5]",
        "(5,127]",
    ]
    assert members(tree) == [set(), {"S1"}, set(), {"S2"}, set()]
    tree.check_invariants()


def test_figure_6_1_b_locates_two() -> None:
    tree = figure_6_1_b()
    assert tree.locate(2) is list(tree.leaves())[3]
    assert tree.locate(2).members == {"S2"}
    positions = {leaf: n for n, leaf in enumerate(tree.leaves())}
    located = {value: positions[tree.locate(value)] for value in (-128, -6, -5, -1, 0, 1, 5, 6)}
    assert located == {-128: 0, -6: 0, -5: 1, -1: 1, 0: 2, 1: 3, 5: 3, 6: 4}


def test_the_age_example_of_6_4() -> None:
    tree: PSTree[str] = PSTree(int_elements)
    tree.insert("S1", [closed(20, 60)])
    tree.insert("S2", [closed(30, 80)])
    assert written(tree, "[1", "100]") == ["[1,20)", "[20,30)", "[30,60]", "(60,80]", "(80,100]"]
    assert [len(leaf.members) for leaf in tree.leaves()] == [0, 1, 2, 1, 0]
    tree.remove("S2")
    assert written(tree, "[1", "100]") == ["[1,20)", "[20,60]", "(60,100]"]
    assert [len(leaf.members) for leaf in tree.leaves()] == [0, 1, 0]
    tree.check_invariants()


# ---- one thing at a time ------------------------------------------------------------------


def test_insert_and_remove_return_the_leaves_they_touch() -> None:
    tree: PSTree[str] = PSTree(int_elements)
    tree.insert("inner", [closed(3, 4)])
    leaves = tree.insert("outer", [Interval(1, True, None, False)])
    assert leaves == tree.covered("outer") == list(tree.leaves())[1:]
    assert len(leaves) == 3
    assert tree.remove("outer") == leaves


def test_both_cuts_at_one_value_leave_right_neighbours_in_order() -> None:
    """Algorithm 8 forgets the l link of the carrier to the right."""
    tree: PSTree[str] = PSTree(int_elements)
    tree.insert("from", [Interval(5, True, None, False)])
    tree.insert("equal", [point(5)])
    tree.check_invariants()
    assert tree.locate(9).members == {"from"}
    assert tree.locate(5).members == {"from", "equal"}


def test_a_cut_below_a_value_that_only_ends_there_takes_the_value_along() -> None:
    """Algorithm 9 moves the l link of the carrier to the right, but not its e."""
    tree: PSTree[str] = PSTree(int_elements)
    tree.insert("above", [Interval(5, False, None, False)])
    tree.insert("from", [Interval(3, True, None, False)])
    tree.check_invariants()
    assert tree.locate(5).members == {"from"}
    tree.remove("from")
    assert tree.locate(5).members == set()


@pytest.mark.parametrize("order", [("a", "ab", "abc"), ("abc", "ab", "a"), ("ab", "abc", "a")])
def test_a_string_differs_from_its_prefixes(order: tuple[str, ...]) -> None:
    """Algorithms 5, 6 and 11 fail when one string is a prefix of another."""
    tree: PSTree[str] = PSTree(string_elements)
    for value in order:
        tree.insert(value, [point(value)])
        tree.check_invariants()
    for value in order:
        assert tree.locate(value).members == {value}
    for value in ("", "a\x01", "aa", "abb", "abca", "b"):
        assert tree.locate(value).members == set()
    for value in order:
        tree.remove(value)
        tree.check_invariants()
    assert len(list(tree.leaves())) == 1


def test_a_prefix_that_is_only_looked_up_finds_its_right_neighbour_below() -> None:
    tree: PSTree[str] = PSTree(string_elements)
    tree.insert("below abc", [Interval(None, False, "abc", False)])
    tree.insert("from b", [Interval("b", True, None, False)])
    assert tree.locate("ab").members == {"below abc"}


def test_the_empty_string_is_a_value_like_others() -> None:
    tree: PSTree[str] = PSTree(string_elements)
    tree.insert("empty", [point("")])
    tree.insert("others", [Interval("", False, None, False)])
    tree.check_invariants()
    assert tree.locate("").members == {"empty"}
    assert tree.locate("a").members == {"others"}


def test_an_emptied_tree_is_one_leaf_and_the_root() -> None:
    tree = figure_6_1_b()
    first = next(tree.leaves())
    tree.remove("S1")
    tree.remove("S2")
    assert list(tree.leaves()) == [first]
    assert tree.spaces() == [Interval(None, False, None, False)]
    assert len(tree) == 0
    tree.check_invariants()  # no inner node without a purpose is among its promises


def test_space_ids_are_never_used_again() -> None:
    tree = figure_6_1_b()
    before = {leaf.space_id for leaf in tree.leaves()}
    tree.remove("S1")
    tree.insert("S1", [closed(-5, -1)])
    kept = {leaf.space_id for leaf in tree.leaves()} & before
    assert len(kept) == 3
    assert max(leaf.space_id for leaf in tree.leaves()) > max(before)


def test_the_same_member_twice_is_refused() -> None:
    tree = figure_6_1_b()
    with pytest.raises(ValueError, match="already"):
        tree.insert("S1", [point(9)])
    with pytest.raises(KeyError):
        tree.remove("S3")


def test_bad_intervals_leave_the_tree_alone() -> None:
    tree = figure_6_1_b()
    with pytest.raises(ValueError, match="overlap"):
        tree.insert("S3", [closed(7, 9), closed(8, 9)])
    tree.check_invariants()
    assert "S3" not in tree


def test_a_member_without_values_covers_nothing() -> None:
    tree: PSTree[str] = PSTree(int_elements)
    assert tree.insert("never", []) == []
    assert tree.remove("never") == []


# ---- events -------------------------------------------------------------------------------


def test_events_are_counted_exactly_between_cuts() -> None:
    tree = figure_6_1_b()
    for value in (-5, -3, 0, 1, 1, 5, 100):
        tree.record(value)
    assert [leaf.event_count for leaf in tree.leaves()] == [0, 2, 1, 3, 1]
    assert tree.events_matching([closed(1, 5)]) == 3
    assert tree.events_matching([closed(-5, -1), closed(1, 5)]) == 5
    assert tree.events_matching([Interval(5, False, None, False)]) == 1


def test_a_boundary_inside_a_space_takes_half_of_it() -> None:
    tree: PSTree[str] = PSTree(int_elements)
    for _ in range(8):
        tree.record(0)
    assert tree.events_matching([Interval(3, True, None, False)]) == 4
    assert tree.events_matching([point(3)]) == 2
    assert tree.events_matching([point(value) for value in range(100)]) == 8
    assert [leaf.event_count for leaf in tree.leaves()] == [8]
