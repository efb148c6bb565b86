"""The dumps of several workers as one: counters and histograms are added up; a gauge of one worker
gets the label `worker`, a gauge that all workers share appears once."""

from collections.abc import Iterable, Mapping
from typing import Any

from app.observability.metrics.declared import METRICS
from app.observability.metrics.metric import OTHER, Kind, Metric
from app.observability.metrics.registry import Dump

WORKER = "worker"

Samples = dict[tuple[tuple[str, str], ...], Any]
"""A number for each set of named labels; for a histogram `[counts, sum]`."""


def add_up(dumps: Iterable[Dump], metrics: Iterable[Metric] = METRICS) -> Dump:
    """The sum of the counters and histograms of several dumps, without the gauges.

    Labels above the limit of a metric become `other`; those of the first dumps stay.
    """
    summed: Dump = {}
    all_dumps = list(dumps)
    for metric in metrics:
        if metric.kind is Kind.GAUGE:
            continue
        totals: dict[tuple[str, ...], Any] = {}
        for dump in all_dumps:
            for labels, number in dump.get(metric.name, ()):
                key = tuple(labels)
                if key not in totals and len(totals) >= metric.most:
                    key = (OTHER,) * len(key)
                totals[key] = _sum(totals[key], number) if key in totals else number
        if totals:
            summed[metric.name] = [[list(labels), number] for labels, number in totals.items()]
    return summed


def merge(
    counted: Iterable[Dump], living: Mapping[str, Dump], metrics: tuple[Metric, ...] = METRICS
) -> list[tuple[Metric, Samples]]:
    """The samples to expose: counters and histograms of `counted`, gauges of `living` by worker."""
    summed = add_up(counted, metrics)
    merged: list[tuple[Metric, Samples]] = []
    for metric in metrics:
        samples: Samples = {}
        if metric.kind is not Kind.GAUGE:
            for labels, number in summed.get(metric.name, ()):
                samples[_named(metric, labels)] = number
        for worker, dump in living.items() if metric.kind is Kind.GAUGE else ():
            own = ((WORKER, worker),) if metric.per_worker else ()
            for labels, number in dump.get(metric.name, ()):
                samples[_named(metric, labels) + own] = number
        merged.append((metric, samples))
    return merged


def _named(metric: Metric, labels: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(metric.labels, labels, strict=True))


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, list):
        return [[a + b for a, b in zip(one[0], other[0], strict=True)], one[1] + other[1]]
    return one + other
