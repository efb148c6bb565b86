"""The history of the tables, for Alembic: `versions/` holds a step each, up and down.

A step is frozen: it imports nothing that changes. `run.py` is how the service takes them.
"""
