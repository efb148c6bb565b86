"""From rows of the log to figures about them. Each is a function of DataFrames, and reads and
writes nothing.

    log ─▶ validation ─┬─▶ tally ─┬─▶ totals           rows and requests of each day
                       │          ├─▶ presence         of each attribute
                       │          ├─▶ distinct         how many values it has
                       │          ├─▶ common           the commonest of them
                       │          └─▶ histogram        what those leave over
                       ├─▶ pairs                       of common values
                       ├─▶ sample                      some requests as they were
                       └─▶ quarantined                 what is set aside

So a log is gone through three times (tally, pairs, sample), and nothing of its size is kept: memory
does not grow with it.

A value that half of all requests have is no trouble: each task adds up what it has before anything
is sent (`groupBy` with sums), so a key arrives once from each task. An attribute that has as many
values as requests is none either: what looks at all of them does so in slices (`common`,
`histogram`), and only the best of each slice go to one place.
"""
