"""Writes many active campaigns of a workload directly into the table.

They bypass the parser, which would take longer than what is measured. So `targeting` holds the tree
(about as long as the text), the fingerprint is that of the unnormalized tree, and the log has no
entries, as if it had been pruned. A quarter of the campaigns have a flight, half have categories.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE
from campaigns.feed.postgres import connect
from testkit.progress import Progress
from testkit.workloads import cache
from testkit.workloads.workload import Workload

_COLUMNS = Campaign.columns()
_BATCH = 10_000
_SECONDS = 600.0
_NOW = datetime(2026, 11, 16, tzinfo=UTC)

Row = tuple[Any, ...]


async def fill(
    url: str, workload: Workload, count: int, advertisers: Sequence[int], progress: Progress
) -> None:
    """Insert `count` campaigns, with ids from 1."""
    rows = _rows(workload, count, advertisers, progress)
    connection = await connect(url, _SECONDS)
    try:
        for first in range(0, count, _BATCH):
            progress.show(f"fill {count:,}", first, count)
            records = list(islice(rows, _BATCH))
            await connection.copy_records_to_table("campaigns", columns=_COLUMNS, records=records)
        progress.show("vacuum", 0, 1)
        await connection.execute("SELECT setval('campaigns_id_seq', $1)", count)
        await connection.execute("VACUUM ANALYZE campaigns")
    finally:
        await connection.close()
    progress.done()


def _rows(
    workload: Workload, count: int, advertisers: Sequence[int], progress: Progress
) -> Iterator[Row]:
    rng = Random("campaigns")
    some_categories = [
        json.dumps([f"IAB{number}" for number in rng.sample(range(1, 26), 1 + place % 3)])
        for place in range(100)
    ]
    trees = cache.items(workload, count, lambda done, of: progress.show("generate", done, of))
    for place, tree in trees:
        drawn = rng.random()
        starts = _NOW + timedelta(hours=int(drawn * 1000)) if drawn < 0.25 else None
        campaign = Campaign.defaults() | {
            "id": place + 1,
            "external_id": f"campaign-{place + 1}",
            "advertiser_id": advertisers[place % len(advertisers)],
            "name": f"campaign {place + 1}",
            "status": ACTIVE,
            "starts_at": starts,
            "ends_at": starts and starts + timedelta(days=30),
            "priority": place % 10,
            "bid_micros": int(drawn * 5_000_000),
            "categories": some_categories[place % 100] if drawn > 0.5 else "[]",
            "targeting": tree,
            "tree": tree,
            "attribute_names": "[]",
            "fingerprint": hashlib.sha256(tree.encode()).hexdigest(),
            "version": 1 + place % 5,
            "rev": 0,
            "created_at": _NOW,
            "updated_at": _NOW,
        }
        yield tuple(campaign[name] for name in _COLUMNS)
