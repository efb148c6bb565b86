"""Run by Alembic for every command: which database, and what its tables should be.

The URL comes from `run.py`, else from COPSE_DATABASE_URL.
"""

import asyncio
import os

from alembic import context
from sqlalchemy import Connection, pool
from sqlalchemy.ext.asyncio import create_async_engine

from campaigns.database import driver_url
from campaigns.tables import Base

VARIABLE = "COPSE_DATABASE_URL"


def database_url() -> str:
    """Where to go."""
    url = context.config.attributes.get("url") or os.environ.get(VARIABLE)
    if not url:
        raise SystemExit(f"{VARIABLE} is not set: whose tables?")
    return str(url)


def migrate(connection: Connection) -> None:
    """Run the command on a connection; on SQLite a changed table is made anew and copied."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        compare_server_default=True,
    )
    with context.begin_transaction():
        context.run_migrations()


async def online() -> None:
    """Run the command on a connection of its own."""
    engine = create_async_engine(driver_url(database_url()), poolclass=pool.NullPool)
    try:
        async with engine.connect() as connection:
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
