"""A filled database for runs over HTTP: campaigns of a workload, a key, and requests in a file."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from index import Index
from testkit import local_index
from testkit.client import match_bodies
from testkit.database import ACTOR, declare, migrated_postgres, opened, rev_and_digest
from testkit.fill import fill
from testkit.progress import Progress
from testkit.service import NotServing, Server
from testkit.workloads import make
from testkit.workloads.workload import Event, Workload

_SETTINGS = ("synchronous_commit=off", "max_wal_size=4GB")
_SETTLE_SECONDS = 60
REQUESTS = 1000


@dataclass(frozen=True)
class Stage:
    """A Postgres with active campaigns, and requests for them."""

    url: str
    token: str
    workload: Workload
    campaigns: int
    events: list[Event]
    bodies: Path
    """The body of each event's request, one per line."""

    directory: Path
    """For temporary files of the run."""

    def sample(self, count: int) -> list[bytes]:
        """The first bodies."""
        return self.bodies.read_bytes().splitlines()[:count]

    def index(self) -> Index:
        """An index in this process with the current campaigns of the database."""
        return asyncio.run(local_index.build(self.url, self.workload))

    def settle(self, server: Server) -> tuple[int, str]:
        """Wait until every worker's index equals the database; its rev and digest."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            rev, digest = rev_and_digest(self.url)
            wanted = (rev, f"{digest:016x}")
            workers = server.workers(self.token)
            if all((w["rev"], w["digest"]) == wanted and not w["poisoned"] for w in workers):
                return wanted
            if time.monotonic() > deadline:
                raise NotServing(f"the index differs from the database: {workers}, not {wanted}")
            time.sleep(0.1)


@contextmanager
def stage(
    campaigns: int,
    progress: Progress,
    workload: Workload | None = None,
    requests: int = REQUESTS,
    settings: Sequence[str] = _SETTINGS,
    bodies_of: Callable[[Sequence[Event]], list[bytes]] = match_bodies,
) -> Iterator[Stage]:
    """Fill a new Postgres with active campaigns, by default of the ads workload. Everything is
    deleted after the block."""
    drawn = workload or make("ads")
    with migrated_postgres(*settings) as url, tempfile.TemporaryDirectory(prefix="copse-") as name:
        token = asyncio.run(_fill(url, drawn, campaigns, progress))
        path = Path(name) / "bodies.jsonl"
        events = drawn.events(requests)
        path.write_bytes(b"".join(body + b"\n" for body in bodies_of(events)))
        yield Stage(url, token, drawn, campaigns, events, path, Path(name))


async def _fill(url: str, workload: Workload, campaigns: int, progress: Progress) -> str:
    async with opened(url) as store:
        advertisers = await declare(store, workload)
        made = await key.create(store, ACTOR, {"name": ACTOR, "scopes": list(SCOPES)})
    await fill(url, workload, campaigns, advertisers, progress)
    return made.token
