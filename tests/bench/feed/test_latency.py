"""Visibility times from timestamps: when a write counts as visible."""

import pytest

from bench.feed.latency import NeverVisible, figures, spans, visible_at


def test_changes_of_one_batch_are_visible_from_its_end() -> None:
    assert visible_at([3, 4, 5], [[(2, 10), (5, 40)]]) == {3: 40, 4: 40, 5: 40}


def test_a_change_is_visible_when_the_last_worker_has_it() -> None:
    workers = [[(1, 10), (2, 20)], [(1, 15), (2, 18)]]
    assert visible_at([1, 2], workers) == {1: 15, 2: 20}


def test_a_rev_that_one_worker_lacks_is_an_error() -> None:
    with pytest.raises(NeverVisible, match="rev 3 never became visible in worker 1"):
        visible_at([2, 3], [[(3, 10)], [(2, 10)]])


def test_spans_are_in_milliseconds_and_may_be_negative() -> None:
    assert spans({1: 5_000_000, 2: 9_000_000}, {1: 7_000_000, 2: 8_000_000}) == [2.0, -1.0]


def test_the_percentiles_of_a_hundred_are_the_values_at_their_places() -> None:
    expected = {"x_p50_ms": 51.0, "x_p95_ms": 96.0, "x_p99_ms": 100.0, "x_max_ms": 100.0}
    assert figures([float(value) for value in range(100, 0, -1)], "x_") == expected
    assert figures([7.0])["p50_ms"] == 7.0
