"""Intervals: their cuts, complements and overlaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.reference.elements import int_elements
from index.reference.interval import (
    AFTER,
    BEFORE,
    Interval,
    between,
    check_disjoint,
    complement,
    cuts,
    point,
)

WHOLE = Interval(None, False, None, False)


def test_a_bound_is_a_cut() -> None:
    assert list(cuts([Interval(1, True, 5, False)])) == [(1, BEFORE), (5, BEFORE)]
    assert list(cuts([Interval(1, False, 5, True)])) == [(1, AFTER), (5, AFTER)]
    assert list(cuts([WHOLE])) == []


def test_intervals_print_as_mathematicians_write_them() -> None:
    assert str(Interval(1, True, 5, False)) == "[1, 5)"
    assert str(Interval("a", False, None, False)) == "('a', ∞)"
    assert str(WHOLE) == "(-∞, ∞)"


def test_what_is_left_over() -> None:
    assert complement([]) == [WHOLE]
    assert complement([WHOLE]) == []
    assert complement([point(1), point(3)]) == [
        Interval(None, False, 1, False),
        Interval(1, False, 3, False),
        Interval(3, False, None, False),
    ]
    assert complement([Interval(1, True, 2, False), Interval(2, True, None, False)]) == [
        Interval(None, False, 1, False)
    ]


@pytest.mark.parametrize(
    "bad",
    [
        [Interval(2, True, 1, True)],
        [Interval(1, True, 1, False)],
        [Interval(1, False, 1, False)],
        [Interval(1, True, 5, True), Interval(5, True, 9, True)],
        [WHOLE, point(3)],
        [Interval(3, True, None, False), Interval(None, False, 3, True)],
    ],
)
def test_empty_and_overlapping_intervals_are_refused(bad: list[Interval]) -> None:
    with pytest.raises(ValueError, match=r"ends before|overlap"):
        check_disjoint(bad, int_elements)


def test_touching_intervals_are_disjoint() -> None:
    check_disjoint([Interval(5, False, 9, True), Interval(1, True, 5, True)], int_elements)


positions = st.lists(
    st.tuples(st.integers(-9, 9), st.sampled_from([BEFORE, AFTER])), unique=True
).map(sorted)


@given(positions)
def test_the_complement_of_the_complement_is_the_same(cuts: list[tuple[int, int]]) -> None:
    intervals = [between(low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]
    assert complement(complement(intervals)) == intervals
