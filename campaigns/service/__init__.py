"""The operations: a module for each noun, a function for each thing that can be done.

A function takes the store first and, if it writes, who writes; it is one transaction, and raises
what `campaigns/errors.py` draws.
"""
