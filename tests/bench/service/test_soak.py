"""`python -m bench soak`: a short run, and each violation."""

import pytest

from bench.index.measure import Result
from bench.service.soak import Sample, measure, slope, violations
from testkit.progress import Progress

GOOD: Result = {
    "failed": 0,
    "refused": 0,
    "writes_failed": {},
    "writes_per_s": 49.0,
    "writes_wanted_per_s": 50,
    "unseen": 0,
    "lag_s_max": 0.3,
    "memory_mb": 100.0,
    "growth_mb": 0.5,
}


def test_a_short_soak_ends_with_the_index_being_the_database() -> None:
    result = measure(2000, 8, 50, 16, Progress(quiet=True), rate=100)
    assert result["requests"] == 800
    assert result["failed"] == 0
    assert result["writes"] > 100
    assert result["answers_compared"] == 200  # after the digests were equal
    assert result["memory_mb"] > 0
    assert {"p50_ms", "p99_ms", "lag_s_max", "seen_max_ms", "memory_mb_per_minute"} <= result.keys()
    assert isinstance(result["violations"], list)


def test_nothing_is_wrong_with_a_good_run() -> None:
    assert violations(GOOD) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"failed": 1},
        {"refused": 1},
        {"writes_failed": {"PATCH 500": 1}},
        {"writes_per_s": 20.0},
        {"unseen": 1},
        {"lag_s_max": 2.5},
        {"growth_mb": 9.0},
    ],
)
def test_each_violation_is_told(wrong: Result) -> None:
    assert len(violations(GOOD | wrong)) == 1


def test_the_slope_is_that_after_the_warm_up() -> None:
    warm = [Sample(float(at), 1000 * at, 0.0, 0.0) for at in range(100)]
    settled = [Sample(float(at), 100_000 + at, 0.0, 0.0) for at in range(100, 400)]
    assert slope(warm + settled) == pytest.approx(60)
    assert slope([]) == 0.0
