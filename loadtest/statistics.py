"""New statistics in the middle of a run: matching must continue while the indexes are replanned.

A version, as the nightly job would create it from the requests of the run, is stored before the run
and activated in the middle through the API.
"""

import json
import time
from collections.abc import Sequence
from typing import Any

from campaigns.statistics import service as statistics
from campaigns.statistics.document import SCHEMA, checksum_of
from campaigns.statistics.sample import pack
from index.language import Schema
from testkit.client import Client
from testkit.database import ACTOR, opened
from testkit.service import Server
from testkit.statistics import statistics_of
from testkit.workloads.workload import Event

_PATH = "/v1/statistics"
_DAY = "2026-11-16"
_SAMPLED = 1000


async def keep(url: str, schema: Schema, events: Sequence[Event]) -> None:
    """Store a version of the statistics of these requests; it is not active yet."""
    builtins = {"now.hour": 12, "now.weekday": 1}
    sample = pack(
        {"attributes": event, "builtins": builtins, "weight": 1.0, "day": _DAY}
        for event in events[:_SAMPLED]
    )
    count = len(events)
    document = {
        "schema": SCHEMA,
        "window": {"from": f"{_DAY}T00:00:00Z", "to": f"{_DAY}T23:59:59Z", "days": [_DAY]},
        "rows": count,
        "quarantined": 0,
        "requests": float(count),
        "requests_by_day": {_DAY: float(count)},
        "attributes": _attributes(schema, events),
        "sample": {
            "rows": min(count, _SAMPLED),
            "rate": min(1.0, _SAMPLED / count),
            "checksum": checksum_of(sample),
        },
    }
    async with opened(url) as store:
        await statistics.keep(store, ACTOR, document, sample)


def _attributes(schema: Schema, events: Sequence[Event]) -> dict[str, Any]:
    found = json.loads(json.dumps(statistics_of(events, schema)["attributes"]))  # lists, no tuples
    return {
        attribute.name: {
            "type": attribute.type.value,
            "distinct": _distinct(attribute.name, events),
            **found[attribute.name],
        }
        for attribute in schema
    }


def _distinct(name: str, events: Sequence[Event]) -> int:
    values = (event[name] for event in events if name in event)
    return len({each for value in values for each in (value if type(value) is list else [value])})


def activate(server: Server, token: str) -> str:
    """Activate the newest inactive version; returns what happened."""
    with Client(server.port, token, timeout=60.0) as client:
        listed = client.send("GET", _PATH)
        if listed.status != 200:
            return f"not activated: GET {_PATH} answers {listed.status}"
        inactive = [each["id"] for each in listed.content["items"] if not each["active"]]
        if not inactive:
            return "not activated: there is no inactive version"
        id = max(inactive)
        began = time.monotonic()
        answer = client.send("POST", f"{_PATH}/{id}/activate", {"force": True})
        if answer.status != 200:
            return f"version {id} was refused: {answer.status} {answer.body.decode()}"
        return f"version {id} activated in {(time.monotonic() - began) * 1000:.0f} ms"
