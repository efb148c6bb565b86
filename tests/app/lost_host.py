"""Two hosts with a service each, and a third with Postgres and Redis: what does losing one cost?

    python -m tests.app.lost_host --runs 5      loses a host under load, and prints what it cost

Sixteen clients write through the host that is lost, which holds the relay's lease, and two through
the other. Both are asked for matches over their loopback addresses, so also while they are cut off.
"""

import argparse
import asyncio
import itertools
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from campaigns.advertiser import service as advertiser
from campaigns.database.locks import AdvisoryLock
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from migrations.run import upgrade
from testkit.client import Client, Lost
from testkit.database import opened
from testkit.hosts import Host, Network
from testkit.servers import PostgresServer, postgres_server, redis_server
from testkit.service import Server, service

WRITERS = 16
WITHIN = 5.0
"""Seconds within which the other host must write again and hold the lease."""

_HOLDER = (
    "SELECT host(client_addr) FROM pg_locks JOIN pg_stat_activity USING (pid) "
    f"WHERE locktype = 'advisory' AND granted AND objid = {AdvisoryLock.RELAY & 0xFFFFFFFF}"
)
_PATIENCE = 60.0


@dataclass
class Answers:
    """When requests were answered as they should be, with which ids, and what else was answered."""

    good: list[float] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    def pause(self, start: float) -> float:
        """The longest time without a good answer since `start`, up to now."""
        times = [start, *(at for at in self.good if at > start), time.monotonic()]
        return max(after - before for before, after in itertools.pairwise(times))


@dataclass
class Served:
    """A host, its service, and the answers that its clients got."""

    host: Host
    server: Server
    writes: Answers = field(default_factory=Answers)
    matches: Answers = field(default_factory=Answers)


@dataclass(frozen=True)
class Loss:
    """What losing a host cost the other one, in seconds."""

    writes: float
    lease: float
    matches: float


@dataclass
class Pair:
    """The two hosts and what they share."""

    postgres: PostgresServer
    token: str
    advertiser_id: int
    a: Served
    b: Served

    def lose(self, lost: Served, other: Served, killed: bool = False) -> Loss:
        """Cut a host off, and kill it if that is said; watch the other one for some seconds."""
        start = time.monotonic()
        lost.host.cut()
        if killed:
            lost.host.kill()
        lease = self.lease_moved(start, other)
        time.sleep(max(0.0, start + WITHIN + 1 - time.monotonic()))
        return Loss(other.writes.pause(start), lease, other.matches.pause(start))

    def lease_moved(self, start: float, to: Served) -> float:
        """The seconds from `start` until a host holds the lease."""
        while self.asked(_HOLDER) != [to.host.address]:
            if time.monotonic() > start + _PATIENCE:
                return _PATIENCE
            time.sleep(0.02)
        return time.monotonic() - start

    def asked(self, query: str) -> list[str]:
        """The rows of a query, asked over the Unix socket of Postgres."""
        at = ["-h", str(self.postgres.directory), "-p", str(self.postgres.port), "-U", "postgres"]
        psql = [str(self.postgres.bin / "psql"), "-X", "-A", "-t", *at, "-c", query]
        return subprocess.run(psql, capture_output=True, text=True, check=True).stdout.split()

    @contextmanager
    def clients(self, busy: Served) -> Iterator[None]:
        """Clients that match on both hosts, and write through both but most through one."""
        ended = threading.Event()
        threads = [
            threading.Thread(target=self._repeat, args=(work, at, ended))
            for at in (self.a, self.b)
            for work in [self._write] * (WRITERS if at is busy else 2) + [self._match]
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def _repeat(
        self, work: Callable[[Client, Served], None], at: Served, ended: threading.Event
    ) -> None:
        with at.host.entered(), Client(at.server.port, self.token, timeout=10) as client:
            while not ended.is_set():
                work(client, at)

    def _write(self, client: Client, at: Served) -> None:
        body = {"name": "Spring", "advertiser_id": self.advertiser_id}
        if written := _send(at.writes, client, "/v1/campaigns", body, 201):
            at.writes.ids.append(written["id"])

    def _match(self, client: Client, at: Served) -> None:
        _send(at.matches, client, "/v1/match", {"attributes": {}}, 200)
        time.sleep(0.01)


def _send(answers: Answers, client: Client, path: str, body: object, expected: int) -> Any:
    """The content of the expected answer; None after another one, or none."""
    try:
        answer = client.send("POST", path, body)
    except Lost as lost:
        answers.bad.append(str(lost))
        time.sleep(0.05)
        return None
    if answer.status != expected:
        answers.bad.append(f"{answer.status} {answer.body.decode()}")
        return None
    answers.good.append(time.monotonic())
    return answer.content


@contextmanager
def two_hosts(network: Network) -> Iterator[Pair]:
    """Two hosts that serve; `a` has the lease."""
    shared, a, b = network.host("servers"), network.host("a"), network.host("b")
    with ExitStack() as stack:
        postgres = stack.enter_context(postgres_server("log_min_messages=fatal", on=shared))
        redis = stack.enter_context(redis_server(on=shared))
        with shared.entered():
            upgrade(postgres.url)
            token, advertiser_id = asyncio.run(_prepare(postgres.url))

        def served(name: str, host: Host) -> Served:
            settings = {"redis_url": redis.url, "workers": 2, "log_level": "critical"}
            settings["longest_wait_ms"] = 4000  # the machine is busy with its clients
            with host.entered():
                started = service(name, postgres.url, 0, **settings)
                return Served(host, stack.enter_context(started))

        first = served("a", a)
        pair = Pair(postgres, token, advertiser_id, first, first)
        pair.lease_moved(time.monotonic(), first)
        pair.b = served("b", b)
        yield pair


async def _prepare(url: str) -> tuple[str, int]:
    async with opened(url) as store:
        made = await key.create(store, "test", {"name": "all", "scopes": list(SCOPES)})
        return made.token, (await advertiser.create(store, "test", {"name": "Shop"})).id


def main() -> None:
    """Print the cost of losing a host, some times over."""
    parser = argparse.ArgumentParser(description="What losing a host costs the other one.")
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    losses: list[Loss] = []
    for _ in range(runs):
        with Network() as network, two_hosts(network) as pair, pair.clients(busy=pair.a):
            time.sleep(2)
            losses.append(pair.lose(pair.a, pair.b, killed=True))
        _show("run", losses[-1:])
    _show("median", losses)


def _show(name: str, losses: list[Loss]) -> None:
    costs = (
        f"{cost} {statistics.median(getattr(loss, cost) for loss in losses):.2f} s"
        for cost in ("writes", "lease", "matches")
    )
    sys.stdout.write(f"{name}: {', '.join(costs)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
