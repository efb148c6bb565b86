"""Pure functions of DataFrames, from rows of the log to counts. They read and write nothing.

    lines ─▶ validation ─┬─▶ tally ─┬─▶ totals         rows and requests of each day
    (JSON)               │          ├─▶ presence       requests and distinct values by attribute
                         │          ├─▶ top_values     the most common values
                         │          └─▶ histogram      ranges of the other numbers
                         ├─▶ sample                    a sample of the requests
                         └─▶ quarantined               the malformed rows

A job reads and validates the log once and keeps its rows as columns (`staging.py`); the rest reads
those. Only counts are cached: memory does not grow with the log.

Skew does no harm. For a value that half of all requests have, each task sums what it has before it
sends anything (`groupBy` with sums), so a key arrives once from each task. For an attribute with as
many values as requests, `top_values` and `histogram` work on slices of the values, and only the
best of each slice meet in one task.
"""
