"""Code that tests, benchmarks and load tests share: real servers, child processes, filled
databases, clients and workloads. It may import the product; the product never imports it.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The checkout."""

CACHE = ROOT / "bench" / ".cache"
"""Generated workloads and measured points, kept between runs."""


class Failed(RuntimeError):
    """A server, tool or child process failed; commands print the message and exit with 1."""
