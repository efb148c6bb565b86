"""The Spark session of `tests/spark`, for the benchmarks that run jobs."""

from tests.spark.conftest import spark

__all__ = ["spark"]
