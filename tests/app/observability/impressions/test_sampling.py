"""Which requests are logged."""

from random import Random

import pytest

from app.observability.impressions.sampling import Sampler


def test_the_same_random_numbers_give_the_same_decisions() -> None:
    one, other = (Sampler(0.3, Random(7).random) for _ in range(2))
    decisions = [one.takes() for _ in range(10_000)]
    assert decisions == [other.takes() for _ in range(10_000)]
    assert 2_700 < sum(decisions) < 3_300


def test_none_and_all() -> None:
    assert not any(Sampler(0, lambda: 0.0).takes() for _ in range(3))
    assert all(Sampler(1, lambda: 0.999_999).takes() for _ in range(3))


def test_a_request_that_asks_for_it_is_left_out_and_changes_nothing_for_others() -> None:
    numbers = iter([0.5])
    sampler = Sampler(1, lambda: next(numbers))
    assert not sampler.takes(wanted=False)
    assert sampler.takes()


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_is_a_share(rate: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Sampler(rate, lambda: 0.5)
