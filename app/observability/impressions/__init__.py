"""The impression log: one row for each sampled request, matched or not, for Spark.

    sampling ──▶ log.add ──▶ queue ──▶ writer (a thread) ──▶ part ──▶ dt=…/hour=…/part-….jsonl
    (event loop, microseconds)         │ privacy, row: to JSON
                                       └ leftovers: files of killed workers

`docs/impressions.md` describes a row, when rows are lost, and how to read them.
"""
