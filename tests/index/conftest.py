"""An index of every engine."""

from collections.abc import Callable

import pytest

from index import Index

Make = Callable[[], Index]


@pytest.fixture(params=["native", "reference", "scan"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes an index with the schema of the test's module."""
    return lambda: Index(request.module.SCHEMA, engine=request.param)
