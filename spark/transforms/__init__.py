"""Pure functions, from rows of the log to counts. They read and write nothing.

    in the workers, one pass            of what the tasks found

    lines ─┐         ┌─ counts ──▶ tally ─┬─▶ overview       rows and requests of each day,
           ├─ rows ──┤                    │                  requests and values of attributes
    typed ─┘         │                    ├─▶ top_values     the most common values
        (passes)     │                    └─▶ histogram      ranges of the other numbers
                     ├─ sampler ─▶ sample                    a sample of the requests
                     └─ malformed rows                       for the quarantine

Skew does no harm. For a value that half of all requests have, each task sums what it has before it
sends anything, so a key arrives once from each task. For an attribute with as many values as
requests, `top_values` and `histogram` work on slices of the values, and only the best of each slice
meet in one task.
"""
