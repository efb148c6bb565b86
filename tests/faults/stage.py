"""The processes of a run: Postgres and Redis, and a service on each of two hosts.

    ┌─ host of the harness ───────────────────────────────┐        ┌─ second host ──┐
    │ service 0 ──▶ proxies ──▶ Postgres, Redis ◀─────────┼─switch─┼── service 1    │
    │ its clients                                         │        │ its clients    │
    └─────────────────────────────────────────────────────┘        └────────────────┘

The hosts are network namespaces. The second can be cut off silently, which no proxy can do: a
proxy's own connection to Postgres would live on. Clients are on the host of their service, so a
host that is cut off still has some.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from migrations.run import upgrade
from testkit import hosts
from testkit.servers import PostgresServer, RedisServer, postgres_server, redis_server
from tests.faults.bounds import LONGEST_WAIT_MS
from tests.faults.clock import Clock
from tests.faults.disk import Disk, small_disk
from tests.faults.history import History
from tests.faults.proxy import Network, Proxy
from tests.faults.schedule import HOSTS, SECOND, WORKERS
from tests.faults.service import Service

ROOT = Path(__file__).parents[2]

SETTINGS = {
    "COPSE_WORKERS": str(WORKERS),
    "COPSE_LOG_LEVEL": "info",
    "COPSE_LONGEST_WAIT_MS": str(LONGEST_WAIT_MS),
    # Short intervals, so that a run exercises what otherwise happens every ten minutes.
    "COPSE_INDEX_SAVE_MINUTES": "0.1",
    "COPSE_PRUNE_MINUTES": "0.05",
    "COPSE_KEEP_CHANGES": "30",
}


@dataclass
class Stage:
    """The running processes that faults affect, and what their clients need."""

    postgres: PostgresServer
    postgres_proxy: Proxy
    redis: RedisServer
    redis_proxy: Proxy
    disk: Disk
    clock: Clock
    services: list[Service]
    second: hosts.Host
    token: str = ""
    """A key with all scopes."""

    advertisers: list[int] = field(default_factory=list)
    """One for each writer."""

    history: History = field(default_factory=History)

    def pids(self) -> list[int]:
        """The processes of all services."""
        return [pid for each in self.services for pid in (each.pid, *each.workers().values())]


@contextmanager
def stage(directory: Path, tree: Path = ROOT) -> Iterator[Stage]:
    """Start everything, with empty tables. `tree` holds the packages of the service; the logs of
    the services go to `directory`. In the block, this thread is on the harness's host."""
    with ExitStack() as stack:
        switch = stack.enter_context(hosts.Network())
        first, second = switch.host("first"), switch.host("second")
        # The servers first: from the network of a host, no missing package can be installed.
        postgres = stack.enter_context(postgres_server("fsync=on", on=first))
        redis = stack.enter_context(redis_server(on=first))
        stack.enter_context(first.entered())
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="copse-faults-")))
        network = stack.enter_context(Network())
        disk = stack.enter_context(small_disk(own / "impressions"))
        upgrade(postgres.url)
        proxies = network.proxy(postgres.port), network.proxy(redis.port)
        clock = Clock(own)
        direct = postgres.url, redis.url
        proxied = _behind(postgres.url, proxies[0]), _behind(redis.url, proxies[1])
        services = []
        for number in range(HOSTS):
            log = directory / f"service-{number}.log"
            log.unlink(missing_ok=True)
            (disk.directory / str(number)).mkdir()
            variables = {
                **SETTINGS,
                **clock.environment,
                "COPSE_DATABASE_URL": (direct if number == SECOND else proxied)[0],
                "COPSE_REDIS_URL": (direct if number == SECOND else proxied)[1],
                "COPSE_IMPRESSIONS_DIR": str(disk.directory / str(number)),
                "COPSE_INDEX_DIRECTORY": str(own / f"index-{number}"),
            }
            on = second if number == SECOND else None
            service = Service(number, on, tree, log, variables)
            stack.callback(service.kill)
            service.start()
            services.append(service)
        yield Stage(postgres, proxies[0], redis, proxies[1], disk, clock, services, second)


def _behind(url: str, proxy: Proxy) -> str:
    """The URL of a server through its proxy, on the loopback address."""
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    return parts._replace(netloc=f"{user}127.0.0.1:{proxy.port}").geturl()
