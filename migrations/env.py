"""Alembic runs this for every command: it connects to the database and migrates.

The URL comes from `run.py`, else from COPSE_DATABASE_URL.
"""

import asyncio
import os
from typing import Any

from alembic import context
from sqlalchemy import Connection, event, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from campaigns.database.engine import SQLITE_BUSY_MS, driver_url
from campaigns.database.locks import AdvisoryLock
from campaigns.database.tables import Base

VARIABLE = "COPSE_DATABASE_URL"


def database_url() -> str:
    """The URL of the database."""
    url = context.config.attributes.get("url") or os.environ.get(VARIABLE)
    if not url:
        raise SystemExit(f"set {VARIABLE} to the database to migrate")
    return str(url)


def migrate(connection: Connection) -> None:
    """Run the command on a connection; SQLite changes a table by copying it to a new one."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def wait_for_turn(connection: Connection) -> None:
    """Two commands at once would both create the same tables: the second waits until the first has
    committed, and then finds nothing left to do."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(:key)"), {"key": AdvisoryLock.MIGRATIONS}
        )
    else:
        connection.exec_driver_sql("SELECT 1")  # begins the transaction, which waits


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Without this the driver commits each statement that changes a table.
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {SQLITE_BUSY_MS}")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


async def online() -> None:
    """Run the command on its own connection, one command at a time."""
    engine = create_async_engine(driver_url(database_url()), poolclass=pool.NullPool)
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(wait_for_turn)
            await connection.run_sync(migrate)
            await connection.commit()
    finally:
        await engine.dispose()


def offline() -> None:
    """Print the SQL instead of running it."""
    url = driver_url(database_url()).render_as_string(hide_password=False)
    context.configure(url=url, target_metadata=Base.metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    offline()
else:
    asyncio.run(online())
