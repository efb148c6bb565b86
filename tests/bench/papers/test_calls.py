"""The benchmark of costly predicates, small."""

from random import Random

from bench.papers.calls import calls_page, evaluations
from bench.papers.calls_workload import SHARE, workload


def test_ours_evaluates_the_least_and_a_limit_less_again() -> None:
    found = evaluations((2_000, 1_000, 1.0, 0.02), events=3, seed=1)
    naive, sequential, sub_order, ours, limited = found.values()
    assert limited < ours <= sub_order <= sequential < naive


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
