"""`copse demo`: an advertiser and a few campaigns, and which of them match a sample request."""

import argparse
import json
import time
from typing import Any

from app.commands.store import ACTOR, with_store
from app.match.request import DEFAULT_LIMIT
from app.match.single import reserved
from app.settings import Settings
from campaigns.advertiser import service as advertiser
from campaigns.advertiser.service import AdvertiserFilter
from campaigns.campaign import service as campaign
from campaigns.campaign.imports import import_batch
from campaigns.campaign.statuses import ACTIVE
from campaigns.feed.load import load
from campaigns.feed.service import open_source
from campaigns.store import Store
from index import Query

NAME, DOMAIN = "Copse demo", "demo.example"

CAMPAIGNS: tuple[dict[str, Any], ...] = (
    {
        "external_id": "demo-phones",
        "name": "Phones in North America",
        "priority": 5,
        "bid_micros": 1_200_000,
        "targeting": "country in ('US', 'CA') and device.type = 'phone'",
    },
    {
        "external_id": "demo-young",
        "name": "Young readers of news",
        "priority": 5,
        "bid_micros": 900_000,
        "targeting": "age between 18 and 34 and site.domain ends with '.news'\n"
        "  and not (categories any of ('IAB7-39'))",
    },
    {
        "external_id": "demo-office",
        "name": "Desktops in office hours",
        "priority": 3,
        "bid_micros": 2_000_000,
        "targeting": "device.type = 'desktop' and now.hour between 8 and 17 and now.weekday < 6",
    },
    {"external_id": "demo-house", "name": "House ads", "targeting": "true"},
)

REQUEST: dict[str, Any] = {
    "country": "US",
    "device.type": "phone",
    "age": 30,
    "site.domain": "morning.news",
    "categories": ["IAB12"],
}


def add_to(commands: Any) -> None:
    parser = commands.add_parser(
        "demo", help="make an advertiser and sample campaigns, and show which match a request"
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace, settings: Settings) -> int:
    matches = with_store(settings, lambda store: _make(store, settings))
    body = json.dumps({"attributes": REQUEST})
    print(f"POST /v1/match {body}\nmatches, best first:")
    for match in matches:
        print(f"  {match}")
    return 0


async def _make(store: Store, settings: Settings) -> list[str]:
    """Make what does not exist yet; returns the campaigns that match the request, as `/v1/match`
    answers it."""
    found = (await advertiser.page(store, AdvertiserFilter(text=DOMAIN))).items
    fields = {"name": NAME, "domain": DOMAIN}
    owner = found[0] if found else await advertiser.create(store, ACTOR, fields)
    lines = [{"advertiser_id": owner.id, "status": ACTIVE, **each} for each in CAMPAIGNS]
    for line, result in zip(lines, await import_batch(store, ACTOR, lines), strict=True):
        for problem in result.problems:
            print(f"{line['external_id']} stays as it is: {problem.detail}")

    source = open_source(settings.database_url)
    try:
        view = await load(source, settings.limits)
    finally:
        await source.close()
    now = time.time()
    query = Query(now, DEFAULT_LIMIT, builtins=reserved(int(now // 3600)))
    ids = view.index.ask(REQUEST, query).ids
    campaigns = [await campaign.get(store, id) for id in ids]
    return [
        f"campaign {each.id}: {each.name} (priority {each.priority}, "
        f"bid ${each.bid_micros / 1e6:.2f} CPM)"
        for each in campaigns
    ]
