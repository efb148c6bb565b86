"""What tests, benchmarks and load tests share: real servers, child processes, staged databases,
clients and workloads. It may import the product; nothing in the product imports it.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The checkout."""

CACHE = ROOT / "bench" / ".cache"
"""Workloads that were made and points that were measured, kept between runs."""
