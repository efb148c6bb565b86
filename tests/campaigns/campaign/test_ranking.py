"""A score orders campaigns by priority, then by bid, and says both again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.campaign.ranking import MAX_BID_MICROS, MAX_PRIORITY, of_score, score_of

RANKS = st.tuples(st.integers(0, MAX_PRIORITY), st.integers(0, MAX_BID_MICROS))


@pytest.mark.laws
@given(RANKS, RANKS)
def test_scores_order_as_priority_and_bid_do(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert (score_of(*one) < score_of(*other)) == (one < other)
    assert of_score(score_of(*one)) == one


def test_the_highest_score_fits_in_64_bits() -> None:
    assert score_of(MAX_PRIORITY, MAX_BID_MICROS) == 2**63 - 1
