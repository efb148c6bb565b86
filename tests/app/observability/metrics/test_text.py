"""The text that Prometheus reads, by its own parser."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.observability.metrics.declared import METRICS
from app.observability.metrics.merge import merge
from app.observability.metrics.metric import Kind
from app.observability.metrics.registry import Registry
from app.observability.metrics.text import expose


def parsed(text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def full(worker: str, number: int) -> Registry:
    registry = Registry(worker)
    for metric in METRICS:
        labels = [f"{label}-value" for label in metric.labels]
        if metric.kind is Kind.COUNTER:
            registry.counter(metric.name, *labels).add(number)
        elif metric.kind is Kind.GAUGE:
            registry.gauge(metric.name, *labels).value = number
        else:
            registry.histogram(metric.name, *labels).observe(number * 0.0001)
    return registry


def test_every_metric_is_read_with_its_kind_and_its_help() -> None:
    dump = full("w1", 3).dump()
    families = list(text_string_to_metric_families(expose(merge([dump], {"w1": dump})).decode()))
    assert [(f.name, f.type, f.documentation) for f in families] == [
        (metric.name.removesuffix("_total"), metric.kind.value, metric.help) for metric in METRICS
    ]


def test_workers_are_added_up_and_their_gauges_told_apart() -> None:
    dumps = {"w1": full("w1", 3).dump(), "w2": full("w2", 6).dump()}
    found = parsed(expose(merge(dumps.values(), dumps)))
    labels = (("route", "route-value"), ("status", "status-value"))
    assert found["copse_requests_total", labels] == 9
    assert found["copse_index_revision", (("worker", "w1"),)] == 3
    assert found["copse_index_bytes", (("part", "part-value"), ("worker", "w2"))] == 6
    assert found["copse_match_duration_seconds_count", ()] == 2
    assert found["copse_match_duration_seconds_sum", ()] == pytest.approx(0.0009)
    buckets = {
        dict(labels)["le"]: value
        for (name, labels), value in found.items()
        if name == "copse_match_duration_seconds_bucket"
    }
    assert (buckets["0.00025"], buckets["0.0005"], buckets["0.00075"]) == (0, 1, 2)
    assert buckets["+Inf"] == 2
    build = [(name, labels) for name, labels in found if name == "copse_build_info"]
    assert build == [
        (
            "copse_build_info",
            (("engine", "engine-value"), ("python", "python-value"), ("version", "version-value")),
        )
    ]


def test_many_workers_do_not_make_any_number_of_series() -> None:
    dumps = []
    for worker in range(5):
        registry = Registry(f"w{worker}")
        for number in range(100):
            registry.counter("copse_unknown_attributes_total", f"n{worker}.{number}").add()
        dumps.append(registry.dump())
    found = parsed(expose(merge(dumps, {})))
    names = {
        dict(labels).get("name"): n for (name, labels), n in found.items() if "unknown" in name
    }
    assert len(names) == 101
    assert (names["n0.5"], names["other"]) == (1, 400)


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "é{}, #", "\\n", "\ud800"])
def test_labels_may_hold_anything(name: str) -> None:
    registry = Registry("w1")
    registry.counter("copse_unknown_attributes_total", name).add()
    found = parsed(expose(merge([registry.dump()], {})))
    kept = name.encode("utf-8", "replace").decode()
    assert found["copse_unknown_attributes_total", (("name", kept),)] == 1


@pytest.mark.parametrize("number", [0, 1e-9, 1.5e300, 2**63, float("inf")])
def test_numbers_may_be_anything(number: float) -> None:
    registry = Registry("w1")
    registry.gauge("copse_feed_lag_seconds").value = number
    found = parsed(expose(merge([], {"w1": registry.dump()})))
    assert found["copse_feed_lag_seconds", (("worker", "w1"),)] == number
