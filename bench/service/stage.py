"""What every run over HTTP needs: a database with campaigns, a key, and requests in a file."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from testkit import bodies
from testkit.database import ACTOR, declare, migrated_postgres, opened
from testkit.fill import fill
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Event, Workload

_SETTINGS = ("synchronous_commit=off", "max_wal_size=4GB")
BODIES = 1000


@dataclass(frozen=True)
class Stage:
    """A filled Postgres, and what asks for its campaigns."""

    url: str
    token: str
    workload: Workload
    campaigns: int
    events: list[Event]
    bodies: Path
    directory: Path
    """For whatever else is written."""

    def sample(self, count: int) -> list[bytes]:
        """The first bodies."""
        return self.bodies.read_bytes().splitlines()[:count]


@contextmanager
def stage(campaigns: int, progress: Progress) -> Iterator[Stage]:
    """So many active campaigns of the ads workload; all is gone after the block."""
    workload = make("ads")
    with (
        migrated_postgres(*_SETTINGS) as url,
        tempfile.TemporaryDirectory(prefix="copse-") as name,
    ):
        token = asyncio.run(_fill(url, workload, campaigns, progress))
        path = Path(name) / "bodies.jsonl"
        events = bodies.write(workload, BODIES, path)
        yield Stage(url, token, workload, campaigns, events, path, Path(name))


async def _fill(url: str, workload: Workload, campaigns: int, progress: Progress) -> str:
    async with opened(url) as store:
        advertisers = await declare(store, workload)
        made = await key.create(store, ACTOR, {"name": ACTOR, "scopes": list(SCOPES)})
    await fill(url, workload, campaigns, advertisers, progress)
    return made.token
