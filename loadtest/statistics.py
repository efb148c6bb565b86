"""New statistics in the middle of a run: does matching go on while the indexes rearrange
themselves?

A version is kept before the run, as the nightly job would make it from the requests of the run, and
activated in the middle through the API.
"""

import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.statistics import service as statistics
from campaigns.statistics.document import SCHEMA, checksum_of
from campaigns.statistics.sample import pack
from campaigns.store import Store
from index.language import Schema
from testkit.database import ACTOR
from testkit.service import Server
from testkit.statistics import statistics_of
from testkit.workloads.workload import Event

_PATH = "/v1/statistics"
_SECONDS = 60.0
_DAY = "2026-11-16"
_SAMPLED = 1000


async def keep(store: Store, schema: Schema, events: Sequence[Event]) -> None:
    """Keep a version of the statistics of these requests, which nobody has judged."""
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
        "pairs": [],
        "sample": {
            "rows": min(count, _SAMPLED),
            "rate": min(1.0, _SAMPLED / count),
            "checksum": checksum_of(sample),
        },
    }
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


@dataclass(frozen=True, slots=True)
class Activation:
    """What came of it; `at` is when it was asked for, None when it was not."""

    told: str
    at: float | None = None


def activate(server: Server, token: str) -> Activation:
    """Activate the newest version that is not the active one."""
    status, listed = _send(server, token, "GET", _PATH)
    if status != 200:
        return Activation(f"not activated: GET {_PATH} answers {status}")
    waiting = [each for each in listed.get("items", []) if not each.get("active")]
    if not waiting:
        return Activation("not activated: there is no version of statistics that could be")
    id = max(each["id"] for each in waiting)
    at = time.time()
    status, told = _send(server, token, "POST", f"{_PATH}/{id}/activate", {"force": True})
    took = time.time() - at
    if status != 200:
        return Activation(f"version {id} was refused: {status} {told.get('detail', '')}", at)
    return Activation(f"version {id} activated in {took * 1000:.0f} ms", at)


def _send(
    server: Server, token: str, method: str, path: str, body: object = None
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_SECONDS)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, headers)
        answer = connection.getresponse()
        read = answer.read()
    finally:
        connection.close()
    told = json.loads(read) if read.startswith(b"{") else {}
    return answer.status, told
