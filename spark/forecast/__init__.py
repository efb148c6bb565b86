"""Forecasts campaigns: the index matches logged requests inside Spark.

campaigns ─▶ variants ─▶ hits ─▶ estimates
                          └─ hit_counter, in each Python worker
"""
