"""The declaration of a metric."""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """The kinds, by their names in the exposition format."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


OTHER = "other"
"""The label of everything above `most` labels."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A name with its unit, a help text, and the names of its labels.

    `per_worker`: a gauge that each worker has for itself, and that cannot be added up. `most`
    limits the number of label values in a worker, since some come from requests.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    per_worker: bool = False
    most: int = 1000


def counter(name: str, help: str, *labels: str, most: int = 1000) -> Metric:
    """Only grows; its name ends in `_total`. The workers are added up."""
    return Metric(name, Kind.COUNTER, help, labels, most=most)


def gauge(name: str, help: str, *labels: str, per_worker: bool = True) -> Metric:
    """Goes up and down; one for each worker (label `worker`), or one that all workers share."""
    return Metric(name, Kind.GAUGE, help, labels, per_worker=per_worker)


def histogram(name: str, help: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    """The distribution of observed values over buckets. The workers are added up."""
    return Metric(name, Kind.HISTOGRAM, help, labels, buckets)
