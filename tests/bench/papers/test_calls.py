"""The benchmark of costly predicates, small."""

from itertools import combinations
from random import Random

import pytest

from bench.papers.calls import calls_page, evaluations
from bench.papers.calls_algorithms import fewest
from bench.papers.calls_workload import SHARE, Workload, workload


def test_ours_evaluates_the_least_and_a_limit_less_again() -> None:
    found = evaluations((2_000, 1_000, 1.0, 0.02), events=3, seed=1)
    naive, sequential, sub_order, ours, least, limited, least_limited = found.values()
    assert least <= ours <= sub_order <= sequential < naive
    assert least_limited <= limited < ours


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_no_set_of_evaluations_that_decides_is_smaller_than_the_bound(limit: int | None) -> None:
    rng = Random(3)
    reached = 0
    for _ in range(200):
        predicates = rng.randint(3, 7)
        lengths = (rng.randint(1, 3) for _ in range(rng.randint(1, 8)))
        given = Workload([tuple(rng.sample(range(predicates), n)) for n in lengths], [0.4] * 7)
        event = given.event(rng)
        least = smallest(given, event, limit)
        bound = fewest(limit)(given, event, rng)
        assert bound <= least
        reached += bound == least
    assert reached > 100, "it is near the truth"


def smallest(given: Workload, event: list[bool], limit: int | None) -> int:
    """By trying all sets of predicates: how many decide which are the first `limit` that match."""
    matching = [all(event[one] for one in each) for each in given.subscriptions]
    last = [place for place, matches in enumerate(matching) if matches][:limit][-1:]
    asked = given.subscriptions
    if limit is not None and sum(matching) >= limit:
        asked = asked[: last[0] + 1]
    numbers = range(len(event))
    for size in range(len(event) + 1):
        for known in combinations(numbers, size):
            if all(_is_decided(each, set(known), event) for each in asked):
                return size
    raise AssertionError


def _is_decided(subscription: tuple[int, ...], known: set[int], event: list[bool]) -> bool:
    fails = any(one in known and not event[one] for one in subscription)
    return fails or known.issuperset(subscription)


def test_events_match_the_share_of_the_paper() -> None:
    given = workload(2_000, 1_000, None)
    rng = Random(2)
    events = [given.event(rng) for _ in range(50)]
    matching = sum(
        all(event[p] for p in subscription)
        for event in events
        for subscription in given.subscriptions
    )
    assert SHARE / 2 < matching / (50 * 2_000) < SHARE * 2
    assert all(3 <= len(set(each)) <= 5 for each in given.subscriptions)


def test_the_table_has_a_row_for_each_setting() -> None:
    page = calls_page([(200, 100, None, SHARE), (200, 100, 1.0, SHARE)], events=1, seed=1)
    assert page.count("| 200 ") == 2
    assert "uniform" in page
    assert "zipf 1" in page
