"""What Prometheus sees: counted in each worker in plain numbers, added up when it asks.

    hot path ──▶ Registry (numbers) ──dump──▶ peers ──collect──▶ ledger, merge, text ──▶ /metrics
                 one a worker                 all workers, as JSON

`declared.py` is the table of all of them. No client library is in it: an observation would cost
microseconds there, and the format is a page of code (`text.py`), which the tests hold against the
official parser.
"""

from app.observability.metrics.collect import collect, say_last_word
from app.observability.metrics.declared import METRICS
from app.observability.metrics.ledger import Ledger
from app.observability.metrics.merge import merge
from app.observability.metrics.metric import Kind, Metric
from app.observability.metrics.numbers import Counter, Gauge, Histogram
from app.observability.metrics.registry import Registry
from app.observability.metrics.text import CONTENT_TYPE, expose

__all__ = [
    "CONTENT_TYPE",
    "METRICS",
    "Counter",
    "Gauge",
    "Histogram",
    "Kind",
    "Ledger",
    "Metric",
    "Registry",
    "collect",
    "expose",
    "merge",
    "say_last_word",
]
