"""All metrics of one worker.

>>> registry = Registry("1")
>>> matches = registry.counter("copse_requests_total", "match", "200")   # once, at start
>>> matches.value += 1                                                   # on the hot path
>>> registry.dump()["copse_requests_total"]
[[['match', '200'], 1]]
"""

from collections.abc import Callable, Iterable
from typing import Any

from app.observability.metrics.declared import METRICS
from app.observability.metrics.metric import OTHER, Kind, Metric
from app.observability.metrics.numbers import Counter, Gauge, Histogram

Dump = dict[str, list[list[Any]]]
"""For each metric a list of `[labels, number]`; for a histogram `[labels, [counts, sum]]`. It is
plain data, to be sent as JSON."""

LONGEST_LABEL = 100


class UndeclaredMetric(KeyError):
    """No metric of this name, kind and number of labels is declared."""


class Registry:
    """The values, made at their first use. On a hot path, look one up once and keep it."""

    def __init__(self, worker: str, metrics: Iterable[Metric] = METRICS) -> None:
        self.worker = worker
        self.metrics = {metric.name: metric for metric in metrics}
        self._numbers: dict[str, dict[tuple[str, ...], Any]] = {name: {} for name in self.metrics}
        self._before: list[Callable[[], None]] = []
        for metric in self.metrics.values():
            if not metric.labels and metric.kind is not Kind.GAUGE:
                self._number(metric.name, metric.kind, ())  # 0 from the start; a gauge when known

    def counter(self, name: str, *labels: str) -> Counter:
        """The counter with these labels."""
        number: Counter = self._number(name, Kind.COUNTER, labels)
        return number

    def gauge(self, name: str, *labels: str) -> Gauge:
        """The gauge with these labels."""
        number: Gauge = self._number(name, Kind.GAUGE, labels)
        return number

    def histogram(self, name: str, *labels: str) -> Histogram:
        """The histogram with these labels."""
        number: Histogram = self._number(name, Kind.HISTOGRAM, labels)
        return number

    def forget(self, name: str, *labels: str) -> None:
        """Remove a gauge whose value is no longer known."""
        self._numbers[name].pop(labels, None)

    def before_dump(self, refresh: Callable[[], None]) -> None:
        """Call `refresh` before each dump, to set gauges and copy counts from elsewhere."""
        self._before.append(refresh)

    def dump(self) -> Dump:
        """All values as plain data."""
        for refresh in self._before:
            refresh()
        return {
            name: [[list(labels), _plain(number)] for labels, number in list(numbers.items())]
            for name, numbers in self._numbers.items()
            if numbers
        }

    def _number(self, name: str, kind: Kind, labels: tuple[str, ...]) -> Any:
        metric = self.metrics.get(name)
        if metric is None or metric.kind is not kind or len(metric.labels) != len(labels):
            raise UndeclaredMetric(f"{kind.value} {name} with {len(labels)} labels")
        numbers = self._numbers[name]
        number = numbers.get(labels)
        if number is None:
            labels = tuple(label[:LONGEST_LABEL] for label in labels)
            if len(numbers) >= metric.most:
                labels = (OTHER,) * len(labels)
            number = numbers.setdefault(labels, _MAKE[kind](metric))
        return number


_MAKE: dict[Kind, Callable[[Metric], Counter | Gauge | Histogram]] = {
    Kind.COUNTER: lambda _: Counter(),
    Kind.GAUGE: lambda _: Gauge(),
    Kind.HISTOGRAM: lambda metric: Histogram(metric.buckets),
}


def _plain(number: Counter | Gauge | Histogram) -> object:
    return [list(number.counts), number.sum] if isinstance(number, Histogram) else number.value
