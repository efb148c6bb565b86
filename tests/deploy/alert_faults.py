"""A fault for each alert, caused on the hosts of `monitored.py` as it happens to operators.

Each function causes one, and returns what must be repeated for it to go on.
"""

import asyncio
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

from redis import Redis

from campaigns.statistics import service as statistics
from campaigns.statistics.gates import Finding
from campaigns.store import Store
from testkit.client import Client, Lost
from tests.app.answers import eventually
from tests.app.conftest import on_store
from tests.campaigns.feed.writing import Writer
from tests.campaigns.statistics.traffic import request
from tests.campaigns.statistics.traffic import statistics as document
from tests.deploy.monitored import START_SECONDS, Monitored
from tests.faults.proxy import REFUSE

Repeat = Callable[[], object]

HOSTS = {
    "CopseDown": "killed",
    "CopseSheds": "busy",
    "CopseSlow": "cut_off",
    "CopseErrors": "busy",
    "CopseStale": "cut_off",
    "CopseRedisDown": "cut_off",
    "CopseApart": "all",
    "CopseResyncs": "busy",
    "CopsePoisoned": "busy",
    "CopseImpressionsLost": "busy",
    "CopseStatisticsOld": "busy",
    "CopseSlowEngine": "coreless",
}
"""The host that each alert is about."""

CHANGES = 1001
REPEAT_SECONDS = 2.0
"""A replica finds Redis again in between."""

MATCH = "/v1/match"


@contextmanager
def faults(world: Monitored) -> Iterator[None]:
    """Cause all of them; what must be repeated is repeated until the block ends."""
    ending = threading.Event()
    with ExitStack() as stack:
        busy = stack.enter_context(world.client("busy"))
        cut_off = stack.enter_context(world.client("cut_off"))
        redis = stack.enter_context(closing(Redis.from_url(world.redis.url)))
        cut_a_host_off(world)
        kill_a_host(world)
        import_campaigns(world, busy)
        use_old_statistics(world)
        break_a_change(world)
        lose_impressions(world, busy)
        rename_a_table(world)
        repeated: list[Repeat] = [
            wait_for_a_change(cut_off),
            break_connections(redis),
            give_up_at_once(busy),
            read_the_table(busy),
        ]

        def repeat() -> None:
            while not ending.wait(REPEAT_SECONDS):
                for action in repeated:
                    with suppress(Lost):
                        action()

        thread = threading.Thread(target=repeat, name="repeated faults")
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()


def cut_a_host_off(world: Monitored) -> None:
    """CopseStale, CopseRedisDown."""
    for proxy in world.proxies:
        proxy.turn(REFUSE)


def kill_a_host(world: Monitored) -> None:
    """CopseDown."""
    os.kill(world.hosts["killed"].pid, signal.SIGKILL)


def import_campaigns(world: Monitored, client: Client) -> None:
    """CopseApart: the host that is cut off misses these changes."""
    campaign = {"advertiser_id": world.advertiser_id, "name": "Spring", "status": "active"}
    lines = [json.dumps(campaign | {"external_id": str(n)}) for n in range(CHANGES)]
    body = "\n".join(lines).encode()
    done = client.send("POST", "/v1/campaigns/import", body, "application/x-ndjson")
    assert done.body.count(b'"created"') == CHANGES, done.body[-500:]


def use_old_statistics(world: Monitored) -> None:
    """CopseStatisticsOld: the nightly job last worked years ago."""

    async def activate(store: Store) -> None:
        made = await statistics.keep(store, "test", *document([request("2020-01-01", age=30)]))
        await statistics.mark(store, "test", made.id, [Finding("rows", True, "enough")])
        await statistics.activate(store, "test", made.id)

    on_store(world.database, activate)


def break_a_change(world: Monitored) -> None:
    """CopsePoisoned: a change that is not JSON."""

    async def write() -> None:
        async with Writer.open(world.database) as writer, writer.transaction():
            await writer.log("campaign", "1", "{broken")

    asyncio.run(write())


def lose_impressions(world: Monitored, client: Client) -> None:
    """CopseImpressionsLost: somebody deletes the log while it is written."""
    body = {"attributes": {"age": 30}}
    client.send("POST", MATCH, body)
    parts = world.impressions.rglob
    eventually(lambda: any(part.stat().st_size for part in parts("*.jsonl")), START_SECONDS)
    shutil.rmtree(world.impressions)
    client.send("POST", MATCH, body)


def rename_a_table(world: Monitored) -> None:
    """CopseErrors, when somebody reads it. Nothing can be written after this."""
    world.execute("ALTER TABLE audit_log RENAME TO audit_log_old")


def read_the_table(client: Client) -> Repeat:
    return lambda: client.send("GET", "/v1/audit")


def wait_for_a_change(client: Client) -> Repeat:
    """CopseSlow: the change was made elsewhere, and the host is cut off."""
    return lambda: client.send("POST", MATCH, {"attributes": {}, "min_rev": 10**9})


def break_connections(redis: Redis) -> Repeat:
    """CopseResyncs."""
    return lambda: redis.client_kill_filter(_type="normal", skipme=True)


def give_up_at_once(client: Client) -> Repeat:
    """CopseSheds: a client that waits for a microsecond."""
    return lambda: client.send("POST", MATCH, {"attributes": {}, "tmax_ms": 0.001})
