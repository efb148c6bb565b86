"""The history of the tables, for Alembic: each file of `versions/` is a step, up and down.

A step is frozen: it imports no code of ours. `run.py` is how the service runs the steps.
"""
