"""Shared by all tests: Hypothesis profiles, fixtures of real servers, the order of the tests."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings
from xdist.scheduler import LoadFileScheduling

from testkit.hosts import Network, NoHosts
from testkit.servers import PostgresServer, RedisServer, postgres_server, redis_server

settings.register_profile("fast", max_examples=100, deadline=None, derandomize=False)
settings.register_profile("long", max_examples=10_000, deadline=None, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

SPARK = ("tests/spark", "tests/bench/nightly")
"""Tests that use a Spark session, which takes half a minute to start."""

SLOW = (
    *SPARK,
    "tests/deploy/test_operations.py",
    "tests/faults/test_run.py",
    "tests/deploy/test_alerts_fire.py",
    "tests/loadtest/test_command.py",
    "tests/app/workers/test_supervisor.py",
    "tests/app/server/test_clients.py",
    "tests/faults/test_without_the_gap_check.py",
    "tests/app/test_lost_host.py",
    "tests/bench",
    "tests/index/test_native_online.py",
    "tests/app/server",
    "tests/security/test_slow_clients.py",
    "tests/app/workers",
    "tests/deploy",
)
"""The slowest files, the slowest first (`--durations 50` prints the slowest tests)."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests that are coroutines run on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A Postgres for this session; it starts with the first test that uses it."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    """A Redis for this session; it starts with the first test that uses it."""
    with redis_server() as server:
        yield server


@pytest.fixture
def network() -> Iterator[Network]:
    """An empty network for the hosts of this test."""
    with ExitStack() as stack:
        try:
            yield stack.enter_context(Network())
        except NoHosts as error:
            pytest.skip(str(error))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow files first, so that no process is left with one of them at the end. Property tests are
    `laws`, except those of the API's routes, which Schemathesis makes."""

    def rank(item: pytest.Item) -> int:
        path = item.path.relative_to(config.rootpath)
        return next((n for n, slow in enumerate(SLOW) if path.is_relative_to(slow)), len(SLOW))

    items.sort(key=rank)
    for item in items:
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) and item.path.name != "test_schemathesis.py":
            item.add_marker("laws")


class _Scheduling(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
    """The tests of a file run in one process, and so do all tests that use Spark."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "spark" if any(Path(file).is_relative_to(folder) for folder in SPARK) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Scheduling | None:
    """For `--dist loadfile`."""
    return _Scheduling(config, log) if config.option.dist == "loadfile" else None
