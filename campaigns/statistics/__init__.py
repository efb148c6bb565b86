"""Statistics about the traffic: what a version of them holds, and what is made of it.

    document.py     one version: shares, counts and a window, canonical and checksummed
    sample.py       the requests that go with it, for replay and forecast
    drift.py        how far two versions are apart, attribute by attribute (PSI)
    gates.py        whether a version may steer: enough rows, little drift, a replay
    forecast.py     how many requests a day a targeting would match
    dropping.py     … and without each of its predicates

Nothing here reads or writes a database: `campaigns/statistics/service.py` does. Nothing knows
Spark: `spark/` makes the documents, and uses the rest.
"""
