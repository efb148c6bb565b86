"""What all tests share: Hypothesis profiles, and the fixtures of real servers."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from testkit.servers import PostgresServer, RedisServer, postgres_server, redis_server

settings.register_profile("fast", max_examples=100, deadline=None, derandomize=False)
settings.register_profile("long", max_examples=10_000, deadline=None, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres of this session's own; it starts with the first test that asks for it."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    """A Redis of this session's own; it starts with the first test that asks for it."""
    with redis_server() as server:
        yield server
