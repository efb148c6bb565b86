"""`python -m bench feed`, small: its fields, and that every worker saw every write."""

import json

import pytest

from bench.feed import visibility
from tests.bench.conftest import Bench

RATE, SECONDS, WORKERS = 50, 2, 2


def test_both_phases_are_reported_and_nothing_is_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visibility, "WARM_UP_SECONDS", 1)
    sizes = {"writes-per-second": RATE, "seconds": SECONDS, "workers": WORKERS, "campaigns": 200}
    options = [f"--{name}={value}" for name, value in sizes.items()]
    results = [json.loads(line) for line in bench("feed", "--json", *options)]
    assert [result["phase"] for result in results] == [visibility.WITH, visibility.WITHOUT]
    for result in results:
        assert result["writes"] == RATE * SECONDS
        assert result["failed"] == 0
        assert result["workers"] == WORKERS
        assert result["digests_equal"] is True
        assert result["p50_ms"] <= result["p95_ms"] <= result["p99_ms"] <= result["max_ms"]
        assert result["p50_ms"] > 0, "a commit is never visible before it was stamped"
        assert isinstance(result["met"], bool)
        applied = [n for name, n in result["lanes"].items() if name.startswith("applied")]
        assert sum(applied) == WORKERS * RATE * SECONDS, "each write, once, in each worker"
    assert results[0]["lanes"]["applied stream"] > 0
    assert set(results[1]["lanes"]) == {"applied log", "resync unreadable"}


def test_a_target_is_not_met_with_fewer_writes_than_asked_for() -> None:
    result: dict[str, object] = {"asked_per_second": 200, "p50_ms": 5.0, "p99_ms": 9.0}
    assert visibility._judged(visibility.WITH, result | {"writes_per_second": 199.0})["met"]
    assert not visibility._judged(visibility.WITH, result | {"writes_per_second": 120.0})["met"]
    slow: dict[str, object] = {"writes_per_second": 200.0, "p99_ms": 101.0}
    assert not visibility._judged(visibility.WITH, result | slow)["met"]
