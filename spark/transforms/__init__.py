"""From rows of the log to figures. They read and write nothing.

    in the workers, one pass              of what the tasks found (`summary`)

    lines ─┐         ┌─ counts ──▶ found ──▶ sums ─┬─▶ overview     rows and requests of each day,
           ├─ rows ──┤                │            │                requests, values of attributes
    typed ─┘         │                │            ├─▶ common       the most common values
        (passes)     │                │            └─▶ histogram    ranges of the other numbers
                     ├─ sampler ──────┴──▶ least                    a sample of the requests
                     └─ malformed rows                              for the quarantine

Spark reads the log, and brings tables of several tasks together; Python and Arrow count and add up.
A plan of Spark's own with a few aggregations took longer to compile than to run.

Skew does no harm. For a value that half of all requests have, each task sums what it has before it
sends anything, so a key arrives once from each task. An attribute with as many values as requests
is added up in slices of its values, and only the best of each slice meet in one task.
"""
