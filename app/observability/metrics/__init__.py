"""Metrics for Prometheus: counted in each worker, added up when Prometheus asks.

    hot path ──▶ Registry (numbers) ──dump──▶ peers ──collect──▶ ledger, merge, text ──▶ /metrics
                 one per worker               all workers, as JSON

`declared.py` lists all metrics. There is no client library: an observation with one would cost
microseconds, and the format is a page of code (`text.py`), which the tests check with the official
parser.
"""
