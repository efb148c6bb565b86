"""What the match routes record: how long a request took, and what was ignored in it."""

import asyncio
from time import perf_counter
from typing import Any

import orjson
import pytest
from starlette.types import Message

from app.match.context import MatchSettings
from app.match.recorder import Recorder
from app.match.router import MatchRouter
from app.observability.metrics.declared import METRICS
from app.observability.metrics.merge import merge
from app.observability.metrics.metric import OTHER
from app.observability.metrics.registry import Registry
from app.observability.metrics.text import expose
from campaigns.keys.model import make, token_of
from testkit.in_process import FixedReplica, view_of
from testkit.noop import noop

SLOW = 0.5


async def ask(registry: Registry, path: str, body: object, waited: float = 0.0) -> None:
    """Send a request through the router; the client takes `SLOW` seconds to read the response."""
    token = token_of(*make())
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [
            (b"authorization", b"Bearer " + token.encode()),
            (b"content-type", b"application/json"),
        ],
        "state": {"feed": FixedReplica(view_of(10, token)), "recorder": Recorder(registry)},
        "arrived_at": perf_counter() - waited,
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": orjson.dumps(body), "more_body": False}

    async def send(message: Message) -> None:
        assert message.get("status", 200) in (200, 204)
        await asyncio.sleep(SLOW / 2)

    await MatchRouter(noop(b"}"), MatchSettings(longest_wait=60))(scope, receive, send)


def test_a_duration_ends_when_the_response_is_ready_to_send() -> None:
    registry = Registry("0")
    asyncio.run(ask(registry, "/v1/match", {"attributes": {}}))
    durations = registry.histogram("copse_request_duration_seconds", "match")
    assert sum(durations.counts) == 1
    assert durations.sum < SLOW


def test_a_duration_starts_when_the_request_arrives() -> None:
    registry = Registry("0")
    asyncio.run(ask(registry, "/v1/match", {"attributes": {}}, waited=3.0))
    assert registry.histogram("copse_request_duration_seconds", "match").sum >= 3.0


def ignored(registry: Registry) -> dict[str, float]:
    dump = registry.dump().get("copse_openrtb_ignored_total", [])
    return {labels[0]: count for labels, count in dump}


def bid(**changes: Any) -> dict[str, Any]:
    return {"id": "r1", "imp": [{"id": "1"}, {"id": "2"}]} | changes


def test_ignored_fields_of_bid_requests_are_counted_by_path() -> None:
    registry = Registry("0")
    wrong = bid(
        tmax="soon",
        device={"lmt": "CANARY", "os": 5, "CANARY": 1},
        imp=[{"id": n, "banner": {"w": "CANARY", "h": 250}} for n in "12"],
    )
    asyncio.run(ask(registry, "/v1/openrtb", bid(tmax=60_000)))
    assert ignored(registry) == {}
    for _ in range(2):
        asyncio.run(ask(registry, "/v1/openrtb", wrong))
    counted = ignored(registry)
    assert counted["tmax"] == 2
    assert counted["device.lmt"] == 2
    text = expose(merge([registry.dump(), registry.dump()], {})).decode()
    assert 'copse_openrtb_ignored_total{path="tmax"} 4' in text, "all workers together"
    assert "CANARY" not in text


@pytest.mark.parametrize("paths", [1000])
def test_the_number_of_paths_is_limited(paths: int) -> None:
    registry = Registry("0")
    for n in range(paths):
        Recorder(registry).ignored({f"path.{n}": 1})
    [metric] = [metric for metric in METRICS if metric.name == "copse_openrtb_ignored_total"]
    counted = ignored(registry)
    assert len(counted) == metric.most + 1
    assert counted[OTHER] == paths - metric.most
