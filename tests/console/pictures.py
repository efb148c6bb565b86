"""The pictures of the documentation: `python -m tests.console.pictures`, or `make pictures`.

A new service with a few campaigns and some traffic, seen in a real browser.
"""

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2

from campaigns.delivery import service as delivery_service
from campaigns.delivery.model import HOUR, Counts
from campaigns.keys import service as key
from campaigns.keys.model import SCOPES
from campaigns.statistics import service as statistics_service
from campaigns.store import Store
from migrations.run import upgrade
from testkit import ROOT
from testkit.browser import browser
from tests.app.conftest import on_store
from tests.app.serving import serving
from tests.campaigns.statistics.traffic import request, statistics
from tests.console.conftest import World, console

PICTURES = ROOT / "docs" / "console"
SECONDS = 12.0

PHONES = "country in ('US', 'CA')\n  and device.type = 'phone'"
READERS = "age between 18 and 34\n  and site.domain ends with '.news'"
NEVER = "country = 'US' and age > 60 and age < 18"
CAMPAIGNS: tuple[tuple[str, int, int, int, str, str], ...] = (
    ("Phones in North America", 0, 5, 1_200_000, "active", PHONES),
    ("Young readers of news", 0, 4, 900_000, "active", READERS),
    ("Weekend getaways", 1, 7, 2_500_000, "active", "country = 'JP' and now.weekday >= 1"),
    ("Winter boots", 0, 4, 1_500_000, "active", NEVER),
    ("Ferries", 1, 1, 500_000, "active", "country in ('DE', 'FR', 'GB') or age > 50"),
    ("House ads", 1, 0, 0, "active", "true"),
    ("Spring sale", 1, 3, 700_000, "draft", "country = 'GB'"),
)
"""Name, advertiser, priority, bid, status and targeting."""


async def prepare(store: Store) -> dict[str, str]:
    """A key for Ada, and the statistics of a day."""
    chance = random.Random(2)
    rows = [request(**attributes_of(chance)) for _ in range(2000)]
    version = await statistics_service.keep(store, "nightly", *statistics(rows, rate=0.02))
    await statistics_service.activate(store, "nightly", version.id, force=True)
    made = await key.create(store, "cli", {"name": "Ada", "scopes": list(SCOPES)})
    return {"all": made.token}


async def add_past(store: Store, id: int) -> None:
    """The hours before the service was started, for the chart: first the floor, then fewer."""
    chance, now = random.Random(3), int(time.time()) // HOUR
    for ago in range(1, 24):
        counts, considered = Counts(), chance.randrange(300, 420)
        counts.considered[id] = considered
        counts.matched[id] = int(considered * (0.25 if ago > 8 else 0.4))
        counts.answered[id] = int(counts.matched[id] * (0.35 if ago > 8 else 0.85))
        for code, predicate, count in (
            ("targeting", "country in ('US', 'CA')", 14),
            ("targeting", "device.type = 'phone'", 9),
            ("floor", "", 11 if ago > 8 else 2),
            ("outranked", "", 5 if ago > 8 else 2),
            ("blocked", "", 1),
        ):
            for _ in range(count + chance.randrange(3)):
                counts.explain(id, code, predicate)
        await delivery_service.add(store, now - ago, counts)


def attributes_of(chance: random.Random) -> dict[str, Any]:
    """A request of a small exchange."""
    return {
        "country": chance.choice(["US", "US", "US", "CA", "DE", "FR", "GB"]),
        "device.type": chance.choice(["phone", "phone", "desktop", "tv"]),
        "age": chance.randrange(16, 70),
        "site.domain": chance.choice(["morning.news", "evening.news", "shop.example"]),
    }


def fill(client: httpx2.Client) -> list[int]:
    """Two advertisers and their campaigns; returns the ids."""
    owners = [
        client.post("/v1/advertisers", json={"name": name, "domain": domain}).json()["id"]
        for name, domain in (
            ("Northwind Outdoor", "northwind.example"),
            ("Blue Harbour Travel", "blueharbour.example"),
        )
    ]
    ids = []
    for name, owner, priority, bid, status, targeting in CAMPAIGNS:
        fields: dict[str, Any] = {
            "name": name,
            "advertiser_id": owners[owner],
            "priority": priority,
            "bid_micros": bid,
            "targeting": targeting,
        }
        id = client.post("/v1/campaigns", json=fields).json()["id"]
        if status == "active":
            client.post(f"/v1/campaigns/{id}/activate")
        ids.append(id)
    return ids


def send_traffic(client: httpx2.Client, seconds: float) -> None:
    """Requests of a small exchange."""
    chance = random.Random(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sent = {"attributes": attributes_of(chance), "limit": 2}
        client.post("/v1/match", json=sent)
        time.sleep(0.01)


def take(world: World, ids: list[int]) -> None:
    """The pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = world.page
    page.resize(1200, 720)
    world.sign_in()
    for name, path, height in (
        ("campaigns", "/campaigns", 720),
        ("delivery", f"/campaigns/{ids[0]}/delivery", 940),
        ("editor", f"/campaigns/{ids[1]}", 1040),
        ("why", f"/why?campaign_id={ids[1]}", 800),
        ("operations", "/operations", 720),
    ):
        page.resize(1200, height)
        world.open(path)
        if name == "editor":
            page.type("#targeting", READERS.replace("34", "44"))
            world.sees("requests a day")
            page.click_text("Try it")
            world.sees("gained")
        if name == "why":
            page.click_text("Explain")
            world.sees("The smallest change")
        page.run("scrollTo(0, 0)")
        time.sleep(0.5)
        page.screenshot(PICTURES / f"{name}.png")
    page.run("localStorage.setItem('theme', 'dark')")
    page.resize(390, 844)
    world.open(f"/campaigns/{ids[0]}/delivery")
    page.screenshot(PICTURES / "phone.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{Path(directory) / 'copse.sqlite3'}"
        upgrade(url)
        tokens = on_store(url, prepare)
        settings = {"COPSE_DELIVERY_SECONDS": "1", "COPSE_DELIVERY_SHARE": "1"}
        headers = {"Authorization": f"Bearer {tokens['all']}"}
        with (
            serving(lines=3, COPSE_DATABASE_URL=url, **settings) as served,
            httpx2.Client(base_url=served.url, headers=headers) as client,
            console(served.url) as address,
            browser() as page,
        ):
            ids = fill(client)
            on_store(url, lambda store: add_past(store, ids[0]))
            client.patch(
                f"/v1/campaigns/{ids[0]}",
                json={"targeting": PHONES.replace("'CA'", "'CA', 'MX'")},
                headers={"If-Match": "*", "Content-Type": "application/merge-patch+json"},
            )
            send_traffic(client, SECONDS)
            time.sleep(2)
            take(World(address, served.url, url, tokens, page), ids)


if __name__ == "__main__":
    main()
