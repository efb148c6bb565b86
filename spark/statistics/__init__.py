"""Builds the statistics document of some days of the log."""
