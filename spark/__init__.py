"""Jobs on the impression log: statistics that make matching cheaper, and how far campaigns reach.

    python -m spark selectivity     statistics of a day, kept, judged and activated
    python -m spark forecast        how many requests a day each campaign would match
    python -m spark backtest        whether such forecasts come true

`docs/spark.md` says how they are run.
"""
