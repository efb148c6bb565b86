"""Operators in a worker: how they are called, remembered, and kept within their limits."""
