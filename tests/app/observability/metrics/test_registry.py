"""The numbers of one worker."""

import json
import timeit

import pytest

from app.observability.metrics.numbers import Counter, Histogram
from app.observability.metrics.registry import LONGEST_LABEL, Registry, UndeclaredMetric


def test_a_number_is_the_same_for_the_same_labels() -> None:
    registry = Registry("w1")
    one = registry.counter("copse_requests_total", "match", "200")
    one.value += 1
    one.add(2)
    registry.counter("copse_requests_total", "match", "503").add()
    assert registry.counter("copse_requests_total", "match", "200") is one
    assert registry.dump()["copse_requests_total"] == [[["match", "200"], 3], [["match", "503"], 1]]


def test_what_has_no_labels_is_there_from_the_start_but_a_gauge_only_when_known() -> None:
    dump = Registry("w1").dump()
    assert dump["copse_impressions_written_total"] == [[[], 0]]
    assert dump["copse_match_duration_seconds"][0][1][1] == 0
    assert "copse_index_revision" not in dump
    assert "copse_requests_total" not in dump


@pytest.mark.parametrize(
    ("kind", "name", "labels"),
    [
        ("counter", "copse_nothing_total", ()),
        ("gauge", "copse_requests_total", ("match", "200")),
        ("counter", "copse_requests_total", ("match",)),
        ("histogram", "copse_match_duration_seconds", ("match",)),
    ],
)
def test_what_is_not_declared_so_is_refused(kind: str, name: str, labels: tuple[str]) -> None:
    with pytest.raises(UndeclaredMetric):
        getattr(Registry("w1"), kind)(name, *labels)


def test_a_gauge_that_is_no_longer_known_is_left_out() -> None:
    registry = Registry("w1")
    registry.gauge("copse_statistics_age_seconds").value = 7
    assert "copse_statistics_age_seconds" in registry.dump()
    for _ in range(2):
        registry.forget("copse_statistics_age_seconds")
        assert "copse_statistics_age_seconds" not in registry.dump()


def test_a_bucket_includes_its_bound() -> None:
    histogram = Histogram((0.1, 0.25))
    for value in (0.0, 0.1, 0.100001, 0.25, 0.26, 7):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 2]
    assert histogram.sum == pytest.approx(7.710001)


def test_an_observation_takes_less_than_a_microsecond_or_so() -> None:
    histogram = Registry("w1").histogram("copse_match_duration_seconds")
    best = min(timeit.repeat(lambda: histogram.observe(0.0003), number=10_000, repeat=20))
    assert best / 10_000 < 5e-6  # 0.2 µs on an idle machine


def test_strangers_cannot_make_any_number_of_series() -> None:
    registry = Registry("w1")
    for number in range(1_000):
        registry.counter("copse_unknown_attributes_total", f"n{number}").add()
    registry.counter("copse_unknown_attributes_total", "n5").add()
    found = {labels[0]: n for labels, n in registry.dump()["copse_unknown_attributes_total"]}
    assert len(found) == 101
    assert (found["n5"], found["other"]) == (2, 900)
    registry = Registry("w1")
    registry.counter("copse_unknown_attributes_total", "x" * 10_000).add()
    registry.counter("copse_unknown_attributes_total", "x" * 10_001).add()
    dump = registry.dump()["copse_unknown_attributes_total"]
    assert dump == [[["x" * LONGEST_LABEL], 2]]


def test_what_others_count_is_copied_before_a_dump_and_never_falls() -> None:
    registry = Registry("w1")
    written = registry.counter("copse_impressions_written_total")
    totals = iter([5, 3])
    registry.before_dump(lambda: written.copy(next(totals)))
    assert [registry.dump()["copse_impressions_written_total"] for _ in range(2)] == [[[[], 5]]] * 2


def test_a_dump_is_plain_data() -> None:
    registry = Registry("w1")
    registry.histogram("copse_request_duration_seconds", "match").observe(0.0003)
    registry.gauge("copse_index_bytes", "programs").value = 5
    dump = registry.dump()
    assert json.loads(json.dumps(dump)) == dump


def test_a_counter_starts_at_nothing() -> None:
    assert Counter().value == 0
