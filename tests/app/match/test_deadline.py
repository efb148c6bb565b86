"""How long a request may wait, and what is left of that time."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, cast

import orjson
import pytest

from app.errors.http_errors import Behind, Overdue, Overloaded
from app.match import batch, single
from app.match.context import MatchSettings, RequestContext
from app.match.deadline import time_left
from app.match.recorder import Recorder
from app.observability.metrics.registry import Registry
from campaigns.feed.follower import Follower
from campaigns.feed.view import View
from index import Index, Schema


class BehindFollower:
    """Never reaches a rev."""

    current: View | None = None

    async def reached(self, rev: int) -> View:
        raise TimeoutError


def context_of(arrived_at: float) -> RequestContext:
    view = View(Index(Schema([])), {})
    view.arrive("5f0c7d1e9a3b2c48", 41, "")
    follower = cast(Follower, BehindFollower())
    return RequestContext(arrived_at, view, follower, Recorder(Registry("0")), MatchSettings())


def test_what_has_passed_is_subtracted() -> None:
    assert time_left(0.003, 20, 0.25) == pytest.approx(0.017)
    assert time_left(0.1, None, 0.25) == pytest.approx(0.15)
    with pytest.raises(Overdue):
        time_left(0.02, 20, 0.25)
    with pytest.raises(Overloaded):
        time_left(0.26, 1000, 0.25)


REQUEST = {"attributes": {}, "min_rev": 42}


@pytest.mark.parametrize(
    ("answer", "body", "whole"),
    [
        (single.answer, REQUEST | {"tmax_ms": 300}, 0.3),
        (single.answer, REQUEST, 0.25),
        (batch.answer, {"requests": [REQUEST | {"tmax_ms": 300}, REQUEST]}, 0.3),
        (batch.answer, {"requests": [REQUEST]}, 0.25),
    ],
)
def test_a_wait_for_a_rev_gets_what_is_left_of_the_time(
    answer: Callable[[RequestContext, bytes], Awaitable[bytes]],
    body: dict[str, Any],
    whole: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    timeout = asyncio.timeout

    def noted(delay: float) -> asyncio.Timeout:
        waits.append(delay)
        return timeout(delay)

    monkeypatch.setattr(asyncio, "timeout", noted)
    passed = 0.2
    before = perf_counter() - passed
    with pytest.raises(Behind):
        asyncio.run(cast(Any, answer(context_of(before), orjson.dumps(body))))
    [wait] = waits
    assert 0 < wait <= whole - passed
