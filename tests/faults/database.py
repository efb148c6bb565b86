"""The database after a run: its whole audit log and its rows."""

import asyncio
import json
from typing import Any

import asyncpg

from index import digest_of
from tests.faults.history import Commit, End

_LOG = "SELECT rev, kind, object_id, action, after FROM audit_log WHERE kind <> 'feed' ORDER BY rev"
_KEPT = "SELECT rev, kind, object_id FROM changes ORDER BY rev"
_CAMPAIGNS = (
    "SELECT id, version, rev, status, name, advertiser_id, targeting, priority, bid_micros "
    "FROM campaigns"
)


def read_truth(url: str) -> tuple[list[Commit], End]:
    """Read the audit log (never pruned), the remaining changes and the rows."""
    return asyncio.run(_read(url))


async def _read(url: str) -> tuple[list[Commit], End]:
    connection = await asyncpg.connect(url)
    try:
        commits = [_commit(row) for row in await connection.fetch(_LOG)]
        kept = [
            (row["rev"], row["kind"], row["object_id"]) for row in await connection.fetch(_KEPT)
        ]
        epoch, rev = await connection.fetchrow("SELECT epoch, rev FROM feed_head")
        rows = [dict(row) for row in await connection.fetch(_CAMPAIGNS)]
        advertisers = await connection.fetch("SELECT id, status FROM advertisers")
    finally:
        await connection.close()
    pairs = [(row["id"], row["version"]) for row in rows if row["status"] == "active"]
    end = End(
        epoch,
        rev,
        f"{digest_of(pairs):016x}",
        {str(row["id"]): row for row in rows},
        {str(row["id"]): row["status"] for row in advertisers},
        kept,
        in_step=False,
    )
    return commits, end


def _commit(row: Any) -> Commit:
    after = None if row["after"] is None else json.loads(row["after"])
    return Commit(row["rev"], row["kind"], row["object_id"], row["action"], after)
