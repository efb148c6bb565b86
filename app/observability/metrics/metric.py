"""What a metric is, before anything is counted."""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """By the words of the exposition format."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


OTHER = "other"
"""The label of everything that came after `most` labels."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A name with its unit, what it means, and what it is told apart by.

    `per_worker`: a gauge that each worker has by itself, and that cannot be added up. `most` bounds
    how many label values there are in a worker, where strangers choose them.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    per_worker: bool = False
    most: int = 1000


def counter(name: str, help: str, *labels: str, most: int = 1000) -> Metric:
    """Only grows; its name ends in `_total`. Over all workers it is the sum."""
    return Metric(name, Kind.COUNTER, help, labels, most=most)


def gauge(name: str, help: str, *labels: str, per_worker: bool = True) -> Metric:
    """Goes up and down; each worker's under the label `worker`, or one that all have alike."""
    return Metric(name, Kind.GAUGE, help, labels, per_worker=per_worker)


def histogram(name: str, help: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    """How many observations were at most so large. Over all workers it is the sum."""
    return Metric(name, Kind.HISTOGRAM, help, labels, buckets)
