"""Spark jobs on the impression log: statistics for the index, and forecasts for campaigns.

    python -m spark selectivity     builds the statistics of a day and activates them
    python -m spark forecast        forecasts the requests a day that each campaign would match
    python -m spark backtest        compares such forecasts with the day that followed

`docs/spark.md` explains how to run them.
"""
