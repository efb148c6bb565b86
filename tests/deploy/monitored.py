"""Four hosts of one service, watched by Prometheus with the shipped alerts and an Alertmanager.

busy      the clients, the network and the disk of this one misbehave
cut_off   loses Postgres and Redis, behind proxies
coreless  runs without the native core
killed    is killed
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from campaigns.advertiser import service as advertiser
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from campaigns.store import Store
from migrations.run import upgrade
from testkit.client import Client
from testkit.monitoring import MonitoringServer, alertmanager_server, prometheus_server
from testkit.servers import PostgresServer, RedisServer
from testkit.service import Server, started
from tests.app.answers import eventually
from tests.app.conftest import on_store
from tests.deploy.compressed import DEPLOY, write_config
from tests.faults.proxy import Network, Proxy

SERVE = "import sys; from app.cli import main; sys.exit(main())"
START_SECONDS = 120
WITHOUT_CORE = f"import sys; sys.modules['index._native'] = None; {SERVE}"


@dataclass(frozen=True)
class Monitored:
    """The hosts by name, the servers around them, and what a fault needs."""

    hosts: dict[str, Server]
    prometheus: MonitoringServer
    alertmanager: MonitoringServer
    database: str
    redis: RedisServer
    proxies: tuple[Proxy, Proxy]
    impressions: Path
    token: str
    advertiser_id: int

    def fired(self) -> set[tuple[str, str]]:
        """The alerts that fire or did, each with its host; `all` if it names none."""
        names = {f"127.0.0.1:{server.port}": name for name, server in self.hosts.items()}
        found = self.prometheus.query('max_over_time(ALERTS{alertstate="firing"}[1h])')
        return {
            (labels["alertname"], names.get(labels.get("instance", ""), "all"))
            for labels, _ in found
        }

    def are_scraped(self) -> bool:
        """Whether Prometheus has had metrics of each host; on a busy machine a scrape may fail."""
        had = self.prometheus.query("last_over_time(copse_index_revision[1h])")
        return len(had) == len(self.hosts)

    def client(self, host: str) -> Client:
        return Client(self.hosts[host].port, self.token)

    def execute(self, statement: str) -> None:
        """Run a statement in the database, as somebody with a SQL prompt would."""
        _execute(self.database, statement)


@contextmanager
def monitored(postgres: PostgresServer, redis: RedisServer, directory: Path) -> Iterator[Monitored]:
    """Everything runs, and nothing is wrong yet but the missing core."""
    name = "alerts"
    _execute(postgres.url, f"DROP DATABASE IF EXISTS {name}")
    _execute(postgres.url, f"CREATE DATABASE {name}")
    database, impressions = postgres.url_of(name), directory / "impressions"
    upgrade(database)
    token, advertiser_id = on_store(database, _key_and_advertiser)
    with ExitStack() as stack:
        network = stack.enter_context(Network())
        to_postgres, to_redis = (network.proxy(server.port) for server in (postgres, redis))
        away = (
            database.replace(f":{postgres.port}/", f":{to_postgres.port}/"),
            redis.url.replace(f":{redis.port}/", f":{to_redis.port}/"),
        )
        starting = {
            "busy": _host(database, redis.url, COPSE_IMPRESSIONS_DIR=str(impressions)),
            "cut_off": _host(*away),
            "coreless": _host(database, redis.url, code=WITHOUT_CORE),
            "killed": _host(database, redis.url),
        }
        with ThreadPoolExecutor() as pool:
            servers = list(pool.map(stack.enter_context, starting.values()))
        hosts = dict(zip(starting, servers, strict=True))
        alertmanager = stack.enter_context(
            alertmanager_server(DEPLOY / "alertmanager/alertmanager.yml")
        )
        targets = [f"127.0.0.1:{server.port}" for server in servers]
        config = write_config(directory, targets, alertmanager.address)
        prometheus = stack.enter_context(prometheus_server(config))
        world = Monitored(
            hosts,
            prometheus,
            alertmanager,
            database,
            redis,
            (to_postgres, to_redis),
            impressions,
            token,
            advertiser_id,
        )
        eventually(world.are_scraped, START_SECONDS)
        yield world


@contextmanager
def _host(
    database_url: str, redis_url: str, code: str = SERVE, **variables: str
) -> Iterator[Server]:
    settings = {"COPSE_DATABASE_URL": database_url, "COPSE_REDIS_URL": redis_url, **variables}
    settings["COPSE_LOG_LEVEL"] = "critical"  # the errors are wanted
    with started("a host", ["-c", code, "serve", "--port", "0"], settings) as server:
        yield server


async def _key_and_advertiser(store: Store) -> tuple[str, int]:
    made = await key.create(store, "test", {"name": "all", "scopes": list(SCOPES)})
    return made.token, (await advertiser.create(store, "test", {"name": "Shop"})).id


def _execute(url: str, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(run())
