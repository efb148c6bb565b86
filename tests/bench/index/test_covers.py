"""The benchmark of covers: both sides give the same answers, and the index is the faster one."""

import pytest

from bench.index.covers import Make, circle, compare, network, pattern


@pytest.mark.parametrize(
    ("make", "attribute"), [(circle, "place"), (network, "ip"), (pattern, "page")]
)
def test_the_index_is_faster_than_testing_each(make: Make, attribute: str) -> None:
    by_index, by_each = compare(make, attribute, count=3000, asked=10)
    assert by_index * 3 < by_each
