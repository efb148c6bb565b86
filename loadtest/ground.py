"""What a run stands on: a Postgres and a Redis of its own, campaigns, a key, requests in files."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from index import Index
from loadtest import statistics
from loadtest.plan import Plan
from loadtest.traffic import bodies_of, texts_of, workload_of
from testkit import expected
from testkit.database import ACTOR, declare, migrated_postgres, opened
from testkit.fill import fill
from testkit.progress import Progress
from testkit.servers import redis_server
from testkit.workloads.workload import Event, Workload

_SETTINGS = ("fsync=on", "max_wal_size=4GB")


@dataclass(frozen=True)
class Ground:
    """A filled database, and what asks for its campaigns."""

    database: str
    redis: str
    token: str
    workload: Workload
    events: list[Event]
    bodies: Path
    texts: Path
    directory: Path
    """For whatever else the run writes."""

    def index(self) -> Index:
        """The campaigns of the database, in an index of this process."""
        return asyncio.run(expected.build(self.database, self.workload))


@contextmanager
def ground(plan: Plan, progress: Progress) -> Iterator[Ground]:
    """Everything is gone after the block. Postgres syncs to disk, as in production."""
    workload = workload_of(plan.scenario.openrtb, plan.seed)
    with (
        migrated_postgres(*_SETTINGS) as database,
        redis_server() as redis,
        tempfile.TemporaryDirectory(prefix="copse-loadtest-") as name,
    ):
        directory = Path(name)
        events = workload.events(plan.bodies)
        token = asyncio.run(_fill(database, workload, plan, events, progress))
        progress.show("requests", 0, 1)
        bodies, texts = directory / "bodies.jsonl", directory / "texts"
        bodies.write_bytes(b"\n".join(bodies_of(plan.scenario.openrtb, events)) + b"\n")
        texts.write_text("\n".join(texts_of(workload)) + "\n")
        yield Ground(database, redis.url, token, workload, events, bodies, texts, directory)


async def _fill(
    url: str, workload: Workload, plan: Plan, events: list[Event], progress: Progress
) -> str:
    async with opened(url) as store:
        advertisers = await declare(store, workload)
        made = await key.create(store, ACTOR, {"name": "load test", "scopes": list(SCOPES)})
        if plan.scenario.statistics:
            await statistics.keep(store, workload.schema, events)
    await fill(url, workload, plan.campaigns, advertisers, progress)
    return made.token
