"""The metrics of several processes as one."""

import asyncio
from pathlib import Path

from app.observability.metrics.collect import collect
from tests.app.observability.metrics.test_text import parsed
from tests.app.observability.metrics.workers import worker, workers

REQUESTS = ("copse_requests_total", (("route", "match"), ("status", "200")))


def test_all_workers_are_added_up(tmp_path: Path) -> None:
    with workers(tmp_path, 10, 20, 30):
        found = parsed(asyncio.run(collect(tmp_path)))
    assert found[REQUESTS] == 60
    assert found["copse_match_duration_seconds_count", ()] == 3
    gauges = [found["copse_index_campaigns", (("worker", f"w{n}"),)] for n in range(3)]
    assert gauges == [10, 20, 30]


def test_nothing_is_counted_where_nobody_is(tmp_path: Path) -> None:
    assert asyncio.run(collect(tmp_path)).strip() == b""


def test_counters_outlive_their_worker(tmp_path: Path) -> None:
    with workers(tmp_path, 10, 20) as (first, second):
        assert parsed(asyncio.run(collect(tmp_path)))[REQUESTS] == 30
        first.kill()
        first.wait()
        second.terminate()
        second.wait()
        with worker(tmp_path, "w0", 5):  # what replaces the first
            found = parsed(asyncio.run(collect(tmp_path)))
            assert found[REQUESTS] == 30 + 1 + 5  # the second counted one more before its end
            assert found["copse_index_campaigns", (("worker", "w0"),)] == 5
            assert ("copse_index_campaigns", (("worker", "w1"),)) not in found


def test_who_does_not_answer_holds_nobody_up(tmp_path: Path) -> None:
    with workers(tmp_path, 10), worker(tmp_path, "w1", 20, "--deaf"):
        found = parsed(asyncio.run(asyncio.wait_for(collect(tmp_path, timeout=0.3), 5)))
    assert found[REQUESTS] == 10
