"""A forecast, against counts by hand."""

import pytest

from campaigns.statistics.estimate import Sums, estimate
from campaigns.statistics.forecast import forecast
from campaigns.statistics.relaxation import MOST_DROPPED
from campaigns.statistics.sample import unpack
from index import Attribute, ExpressionError, Schema
from tests.campaigns.statistics.traffic import request, statistics

SCHEMA = Schema(
    [
        Attribute("country", "string"),
        Attribute("device.type", "string"),
        Attribute("age", "int"),
        Attribute("now.hour", "int"),
        Attribute("now.weekday", "int"),
    ]
)
MONDAY, TUESDAY = "2026-11-16", "2026-11-17"
ROWS = [
    *[request(MONDAY, country="US", age=30)] * 30,
    *[request(MONDAY, country="US")] * 70,
    *[request(TUESDAY, country="US", age=30)] * 10,
    *[request(TUESDAY, country="DE", age=30)] * 90,
]
DOCUMENT, SAMPLE = statistics(ROWS, by_day={MONDAY: 1000.0, TUESDAY: 3000.0})


def test_each_day_counts_by_its_own_requests() -> None:
    found = forecast("country = 'US' and age = 30", SCHEMA, unpack(SAMPLE), DOCUMENT)
    # 30% of 1,000 and 10% of 3,000.
    assert found.estimate.requests == pytest.approx(300)
    assert (found.estimate.hits, found.asked, found.requests_per_day) == (40, 200, 2000)
    country, age = found.without
    # Without the country: 30% of 1,000 and all of 3,000. Without the age: all, and 10%.
    assert [country.requests, age.requests] == pytest.approx([1650, 650])
    assert (country.words, age.words) == ("without country +450%", "without age +117%")
    assert found.nearest_miss == country
    by_hand = estimate(
        DOCUMENT,
        {MONDAY: Sums(100, 100, 100), TUESDAY: Sums(100, 100, 100)},
        {MONDAY: Sums(30, 30, 30), TUESDAY: Sums(10, 10, 10)},
    )
    assert found.estimate == by_hand


def test_an_alternative_less_is_less_and_no_near_miss() -> None:
    found = forecast("country = 'DE' or age = 30", SCHEMA, unpack(SAMPLE), DOCUMENT)
    assert [each.words for each in found.without] == ["without country +0%", "without age -18%"]
    assert found.nearest_miss is None


def test_the_built_in_attributes_are_those_of_the_request() -> None:
    at_seven = forecast("now.hour = 7 and now.weekday = 1", SCHEMA, unpack(SAMPLE), DOCUMENT)
    assert at_seven.estimate.hits == 200
    assert forecast("now.hour = 8", SCHEMA, unpack(SAMPLE), DOCUMENT).estimate.hits == 0


def test_a_weight_is_a_number_of_requests() -> None:
    rows = [request(country="US", weight=3.0), *[request(country="DE")] * 3]
    document, sample = statistics(rows, by_day={MONDAY: 600.0})
    found = forecast("country = 'US'", SCHEMA, unpack(sample), document)
    assert found.estimate.requests == 300


def test_many_predicates_are_not_all_left_out() -> None:
    text = " or ".join(f"age = {n}" for n in range(80))
    assert len(forecast(text, SCHEMA, unpack(SAMPLE), DOCUMENT).without) == MOST_DROPPED
    large = " or ".join(f"country = '{n:08d}'" for n in range(2500))
    assert 0 < len(forecast(large, SCHEMA, unpack(SAMPLE), DOCUMENT).without) < MOST_DROPPED


def test_it_pauses_now_and_then() -> None:
    pauses: list[None] = []
    forecast("true", SCHEMA, unpack(SAMPLE), DOCUMENT, pause=lambda: pauses.append(None))
    assert len(pauses) == 4


def test_errors_are_those_of_the_parser() -> None:
    with pytest.raises(ExpressionError):
        forecast("nobody = 1", SCHEMA, unpack(SAMPLE), DOCUMENT)
