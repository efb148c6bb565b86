"""A new Postgres with the catalogue of a workload and some advertisers."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from campaigns.advertiser import service as advertiser
from campaigns.catalogue import service as attribute
from campaigns.database.engine import Database
from campaigns.log.service import digest
from campaigns.store import Store
from index import digest_of
from migrations.run import upgrade
from testkit.servers import postgres_server
from testkit.workloads.workload import Workload

ACTOR = "bench"
ADVERTISERS = 100


@contextmanager
def migrated_postgres(*settings: str) -> Iterator[str]:
    """The URL of a new Postgres with empty tables; it stops with the block."""
    with postgres_server(*settings) as server:
        upgrade(server.url)
        yield server.url


@asynccontextmanager
async def opened(url: str, connections: int = 5) -> AsyncIterator[Store]:
    """A store, open during the block."""
    async with Database(url, connections) as database:
        yield Store(database)


async def declare(store: Store, workload: Workload) -> list[int]:
    """Add the workload's attributes to the catalogue and create advertisers; returns their ids."""
    known = {record.name: record.type for record in await attribute.every(store)}
    for each in workload.schema:
        type = each.type.value
        if each.name not in known:
            await attribute.create(store, ACTOR, {"name": each.name, "type": type})
        elif known[each.name] != type:
            await attribute.patch(store, ACTOR, each.name, {"type": type}, None)
    names = [f"advertiser {number}" for number in range(ADVERTISERS)]
    made = [await advertiser.create(store, ACTOR, {"name": name}) for name in names]
    return [each.id for each in made]


def rev_and_digest(url: str) -> tuple[int, int]:
    """The rev of the database and the digest of its active campaigns."""

    async def read() -> tuple[int, int]:
        async with opened(url) as store:
            found = await digest(store, digest_of)
            return found.rev, found.digest

    return asyncio.run(read())
