"""The status of one worker's index, in the shape of `/v1/index`."""

import asyncio
import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from app.observability.engine import current_engine
from campaigns.feed.service import WorkerFeed
from campaigns.feed.view import View
from campaigns.timestamps import written

STATUS = "status"
REQUESTS = "requests"
"""The questions to the workers: their status, and the requests that they have sampled."""


async def status_of(feed: WorkerFeed) -> dict[str, Any]:
    """The status as plain data, for JSON."""
    follower = feed.follower
    view = follower.current
    # A large index takes a moment to compute its statistics.
    stats = await asyncio.to_thread(view.index.stats) if view else {}
    described = follower.describe()
    counts: dict[str, dict[str, int]] = {"resync": {}, "load": {}, "applied": {}}
    for (what, why), count in sorted(follower.counts.items()):
        counts[what][why] = count
    sizes = stats.get("bytes")
    memory: Any = stats.get("memory") or {}
    return {
        "pid": os.getpid(),
        "engine": current_engine().name,
        "epoch": described["epoch"],
        "rev": described["rev"],
        "applied_at": written(datetime.fromtimestamp(view.place.at, UTC)) if view else None,
        "lag_revs": described["lag_revs"],
        "lag_seconds": described["lag_seconds"],
        "digest": f"{described['digest']:016x}" if view else None,
        "campaigns": described["campaigns"],
        "memory_bytes": sum(sizes.values()) if isinstance(sizes, dict) else 0,
        "memory_parts": sizes if isinstance(sizes, dict) else {},
        "resident_bytes": memory.get("resident"),
        "huge_page_bytes": memory.get("huge_pages"),
        "loading": described["loading"],
        "failing": described["failing"],
        "resyncs": counts["resync"],
        "snapshots": counts["load"],
        "applied": counts["applied"],
        "poisoned": [asdict(each) for each in described["poisoned"]],
        "statistics": _statistics(view) if view else None,
        "own_plans": asdict(feed.plans),
        "postings_read": stats.get("postings_read"),
        "stats": stats,
    }


def _statistics(view: View) -> dict[str, Any] | None:
    """The statistics that the index uses."""
    used = view.arranged
    if used is None:
        return None
    return {
        "id": used.id,
        "checksum": used.checksum,
        "window_to": written(datetime.fromtimestamp(used.window_to, UTC)),
        "age_seconds": time.time() - used.window_to,
        "wanted_id": view.statistics.id if view.statistics else None,
    }
