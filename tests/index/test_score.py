"""A score orders campaigns by priority, then by bid, and holds both."""

from hypothesis import given
from hypothesis import strategies as st

from index import _native
from index.score import (
    BID_BITS,
    MAX_BID_MICROS,
    MAX_PRIORITY,
    bid_of,
    priority_of,
    score_of,
)

RANKS = st.tuples(st.integers(0, MAX_PRIORITY), st.integers(0, MAX_BID_MICROS))


@given(RANKS, RANKS)
def test_scores_order_as_priority_and_bid_do(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (score_of(*one) < score_of(*other)) == (one < other)
    assert (priority_of(score_of(*one)), bid_of(score_of(*one))) == one


def test_the_highest_score_fits_in_64_bits() -> None:
    assert score_of(MAX_PRIORITY, MAX_BID_MICROS) == 2**63 - 1


def test_python_and_rust_have_the_same_layout() -> None:
    assert _native.BID_BITS == BID_BITS
