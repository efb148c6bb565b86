"""Benchmarks: how fast each part is, measured in the same way every time."""
