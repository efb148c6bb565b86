"""From counts to requests a day, by hand; `bench/nightly/coverage.py` tries the bounds."""

import math
from datetime import date, timedelta

import pytest

from campaigns.statistics.estimate import Sums, estimate

MONDAY = date(2026, 11, 16)
DAY = str(MONDAY)


def day(number: int) -> str:
    return str(MONDAY + timedelta(days=number))


def sums(count: int, weight: float = 1.0) -> Sums:
    return Sums(count, count * weight, count * weight * weight)


def one_day(hits: int, asked: int = 1000, requests: float = 50_000.0) -> tuple[float, float, float]:
    found = estimate({"requests_by_day": {DAY: requests}}, {DAY: sums(asked)}, {DAY: sums(hits)})
    return found.low, found.requests, found.high


def test_the_middle_is_the_share_of_the_requests() -> None:
    low, middle, high = one_day(100)
    assert middle == 5000
    assert low < middle < high


def test_with_one_day_the_bounds_by_hand() -> None:
    # Wilson for 100 of 1000: 0.0829 to 0.1202. One day: spread 0.2 with 4 degrees of freedom,
    # t = 2.776, times √2: 0.7852. Then √(ln(0.1/0.0829)² + 0.7852² + 1.96²/5000) = 0.8078 below and
    # √(ln(0.1202/0.1)² + 0.7852² + 1.96²/5000) = 0.8071 above.
    low, middle, high = one_day(100)
    assert low == pytest.approx(middle * 0.4458, rel=1e-3)
    assert high == pytest.approx(middle * 2.2413, rel=1e-3)


def test_no_hit_leaves_the_rule_of_three() -> None:
    low, middle, high = one_day(0)
    assert (low, middle) == (0, 0)
    # 3 of 1000 of 50,000 requests, and a day may be e^0.7852 times the mean.
    assert high == pytest.approx(150 * 2.1929, rel=1e-3)
    assert one_day(0, asked=1)[2] == 50_000, "never more than there is"


def test_more_rows_make_it_surer_and_so_do_more_days() -> None:
    few, many = one_day(30, 300), one_day(3000, 30_000)
    assert few[0] < many[0] < many[2] < few[2]
    days = [day(n) for n in range(7)]
    week = estimate(
        {"requests_by_day": dict.fromkeys(days, 50_000.0)},
        {day: sums(10_000) for day in days},
        {day: sums(1000) for day in days},
    )
    assert week.requests == 5000
    assert many[0] < week.low < week.high < many[2]


def test_days_that_lie_apart_widen_the_bounds() -> None:
    def week(requests: list[float], hits: list[int]) -> float:
        days = [day(7 * n) for n in range(len(requests))]
        found = estimate(
            {"requests_by_day": dict(zip(days, requests, strict=True))},
            {day: sums(10_000) for day in days},
            {day: sums(n) for day, n in zip(days, hits, strict=True)},
        )
        return found.spread

    even = week([1e5] * 6, [1000] * 6)
    traffic = week([0.6e5, 1.4e5] * 3, [1000] * 6)
    taste = week([1e5] * 6, [600, 1400] * 3)
    assert even == pytest.approx((4 * 0.04 / 9) ** 0.5)
    # Six days, 0.4 either way: a variance of 6 · 0.16 / 5 = 0.192, more than is assumed.
    assert traffic == pytest.approx(0.192**0.5)
    # 0.05 either way: 6 · 0.0025 / 5 = 0.003, less than the 0.04 that is assumed, so both count.
    calm = week([0.95e5, 1.05e5] * 3, [1000] * 6)
    assert calm == pytest.approx(((4 * 0.04 + 5 * 0.003) / 9) ** 0.5)
    assert even < taste < traffic, "some of what hits differ by is the sample's"


def test_chance_alone_widens_the_bounds_of_few_requests() -> None:
    """Thirty requests a day are by chance alone between 19 and 41, whatever else is known."""

    def ratio(requests: float) -> float:
        found = estimate({"requests_by_day": {DAY: requests}}, {DAY: sums(1000)}, {DAY: sums(300)})
        return found.high / found.requests

    many, few = ratio(1e9), ratio(100.0)
    assert few > many
    assert math.log(few) ** 2 == pytest.approx(math.log(many) ** 2 + 1.96**2 / 30, rel=1e-3)


def test_weights_count() -> None:
    light, heavy = sums(100), sums(100, weight=3.0)
    day = Sums(200, light.weight + heavy.weight, light.squares + heavy.squares)
    found = estimate({"requests_by_day": {DAY: 4000.0}}, {DAY: day}, {DAY: heavy})
    assert found.share == 0.75
    assert found.requests == 3000
    assert day.effective == 160  # 400² / (100 + 900)


def test_a_day_that_is_not_in_the_sample_is_like_the_others() -> None:
    found = estimate(
        {"requests_by_day": {DAY: 1000.0, day(1): 3000.0}}, {DAY: sums(100)}, {DAY: sums(50)}
    )
    assert found.requests == 1000


def test_weekends_are_told_apart_where_there_are_enough_days() -> None:
    """Weekends with half of the traffic are no spread; of three days they could be."""

    def days(number: int) -> tuple[float, float, float]:
        names = [day(n) for n in range(4, 4 + number)]  # from a Friday on
        by_day = {n: 5e5 if date.fromisoformat(n).weekday() >= 5 else 1e6 for n in names}
        asked, hits = ({name: sums(k) for name in names} for k in (10_000, 1000))
        found = estimate({"requests_by_day": by_day}, asked, hits)
        return found.low, found.high, found.spread

    low, high, spread = days(7)
    assert spread == pytest.approx((4 * 0.04 / 9) ** 0.5, rel=1e-2)
    assert low < 50_000 < 100_000 < high
    assert days(3)[2] > 2 * spread
