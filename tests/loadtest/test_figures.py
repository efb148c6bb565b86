"""The figures of a run: what counts, the bottleneck, and the verdict."""

from dataclasses import replace

import pytest

from loadtest.figures import counted
from loadtest.plan import RAMP_SECONDS
from testkit.answers import Checked
from tests.loadtest.runs import PLAN, SAMPLE, SECONDS, START, figures, latencies


def test_rows_are_everything_and_then_each_kind() -> None:
    found = figures()
    assert [(row.kind, row.count, row.per_second) for row in found.rows] == [
        ("all", 20, 5.0),
        ("match", 16, 4.0),
        ("pause", 4, 1.0),
    ]
    match = found.rows[1]
    assert match.p50 == 3
    assert match.longest == 40
    assert found.all.longest == 90
    assert found.server_cpu_us == pytest.approx(1.5e6 / 5)


def test_only_the_seconds_after_the_arrival_of_the_users_count() -> None:
    seconds = {START + at: SECONDS[START] for at in range(20)}
    found = counted(seconds, START, PLAN)
    assert sorted(found) == [START + RAMP_SECONDS + at for at in range(PLAN.seconds)]


def test_locust_that_wants_a_whole_core_is_the_bottleneck_and_wrk_is_compared() -> None:
    found = figures(sample=replace(SAMPLE, wanted=0.97), wrk_rate=40.0)
    assert found.locust_is_the_bottleneck
    assert "Locust itself is the bottleneck" in found.bottleneck
    assert "wrk got 40 matches a second" in found.bottleneck
    assert "10.0 times as many" in found.bottleneck


def test_locust_is_the_bottleneck_if_wrk_gets_much_more() -> None:
    assert not figures(wrk_rate=5.0).locust_is_the_bottleneck
    assert figures(wrk_rate=8.0).locust_is_the_bottleneck


def test_at_a_requested_rate_there_is_no_bottleneck() -> None:
    slow = replace(PLAN, rate=100.0)
    found = figures(plan=slow, sample=replace(SAMPLE, wanted=0.97), wrk_rate=40.0)
    assert not found.locust_is_the_bottleneck
    assert "the requested rate" in found.bottleneck


def test_a_good_run_has_no_problems_and_no_warnings() -> None:
    assert (figures().problems, figures().warnings) == ([], [])


def test_a_machine_that_others_use_is_a_warning() -> None:
    (warning,) = figures(sample=replace(SAMPLE, others=1.2)).warnings
    assert "1.2 of the 2.0 busy cores" in warning


def test_shed_requests_are_a_warning_and_no_problem() -> None:
    found = figures({START: {"match": latencies(1, 2, _503=2)}})
    assert found.errors == {"match 503": 2}
    assert (found.refused, found.problems) == (2, [])
    assert "2 requests were refused with 503" in "".join(found.warnings)


def test_each_problem_is_reported() -> None:
    assert figures({START: {"match": latencies(1, _500=1)}}).problems == ["1 requests failed"]
    assert figures({START: {"match": latencies(1, _0=1)}}).problems == ["1 requests failed"]
    assert (figures({}).all.p50, figures({}).problems) == (None, ["no request was answered"])
    (wrong,) = figures(checked=Checked(5, ["request 3: …"])).problems
    assert "1 of 5 answers are WRONG" in wrong
