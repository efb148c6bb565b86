"""Benchmarks: how fast each part is, measured the same way every time."""
