"""A migrated, empty database for every test, on Postgres and on SQLite.

The migrations run once for each of the two. SQLite's file is copied for each test; the database on
Postgres is emptied before each, which is ten times faster there than making another.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest

from campaigns.advertiser import service as advertiser
from campaigns.database.engine import Database
from campaigns.store import Store
from migrations.run import upgrade
from testkit.servers import PostgresServer

DATABASES = ("sqlite", "postgres")
on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
"""For a test whose database is only Postgres."""


RESET = """
DELETE FROM delivery; DELETE FROM delivery_reasons;
DELETE FROM statistics_samples; DELETE FROM statistics;
DELETE FROM idempotency; DELETE FROM changes; DELETE FROM audit_log; DELETE FROM api_keys;
DELETE FROM campaigns; DELETE FROM advertisers; DELETE FROM operators;
DELETE FROM attributes; INSERT INTO attributes SELECT * FROM migrated.attributes;
UPDATE feed_head SET epoch = md5(random()::text), rev = 0, catalogue_rev = 0, pruned_rev = 0;
"""


def execute(url: str, statements: str) -> None:
    """Run statements on a connection of their own."""

    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statements)
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "copse.sqlite3"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer) -> str:
    execute(postgres.url, "CREATE DATABASE campaigns")
    url = postgres.url.removesuffix("postgres") + "campaigns"
    upgrade(url)
    execute(url, "CREATE SCHEMA migrated; CREATE TABLE migrated.attributes AS TABLE attributes")
    return url


@pytest.fixture
def postgres_url(migrated_postgres: str) -> str:
    execute(migrated_postgres, RESET)
    return migrated_postgres


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    shutil.copy(migrated_sqlite, tmp_path / "copse.sqlite3")
    return f"sqlite:///{tmp_path / 'copse.sqlite3'}"


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def store(database_url: str, anyio_backend: str) -> AsyncIterator[Store]:
    async with Database(database_url) as database:
        yield Store(database)


@pytest.fixture
async def advertiser_id(store: Store) -> int:
    return (await advertiser.create(store, "test", {"name": "Shop"})).id


Fields = Callable[..., dict[str, object]]


@pytest.fixture
def fields(advertiser_id: int) -> Fields:
    """The fields of a campaign, with some of them changed."""

    def make(**changed: object) -> dict[str, object]:
        return {"name": "Spring", "advertiser_id": advertiser_id, **changed}

    return make
