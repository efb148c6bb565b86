"""Statistics about the traffic: what a version holds, and how it is used.

    document.py     one version: shares, counts and a window, canonical and checksummed
    sample.py       its sampled requests, for replay and forecast
    drift.py        how far two versions are apart, attribute by attribute (PSI)
    gates.py        whether a version may be used: enough rows, little drift, a replay
    forecast.py     how many requests a day a targeting would match
    relaxation.py   … and without each of its predicates
    apply.py        a version into the index of a view
    service.py      keep, activate and roll back versions

Nothing here knows Spark: `spark/` computes the documents, and uses the rest.
"""
