"""An index that is planned by its own sample, while there are no statistics."""

import asyncio
import json
from collections.abc import Callable

import pytest

from campaigns.feed.view import NamedStatistics, View
from campaigns.statistics.replan import DRIFT, ENOUGH, Replanner, Stopped, is_due
from index import Limits
from index.backends.backend import Sampled

MANY = 12_000
STATISTICS = NamedStatistics(1, "", 0.0, 0.0)


class Follower:
    """A follower whose view never changes."""

    def __init__(self, view: View) -> None:
        self.current = view

    async def moved(self) -> None: ...


def event(n: int) -> dict[str, object]:
    """Everybody has the same `place`, and nearly nobody a `segment` that is wanted."""
    return {"place": "p1", "segment": f"s{n % 1000}"}


@pytest.fixture
def view() -> View:
    """Without knowledge `place` seems the rarer one, because fewer expressions share a value."""
    view = View.empty({"place": "string", "segment": "string", "n": "int"}, Limits())
    view.index.insert_json(
        (
            n,
            json.dumps(
                [
                    1,
                    [
                        "and",
                        ["=", "place", f"p{n % 20}"],
                        ["=", "segment", f"s{n % 10}"],
                        ["<", "n", n],
                    ],
                ]
            ),
        )
        for n in range(MANY)
    )
    return view


def ask(view: View, first: int, count: int) -> None:
    for n in range(first, first + count):
        view.index.top(event(n))


def run(replanner: Replanner, done: Callable[[], bool]) -> None:
    async def until_done() -> None:
        running = asyncio.create_task(replanner.run())
        async with asyncio.timeout(30):
            while not done():
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(until_done())


@pytest.mark.parametrize(
    ("events", "planned", "drift", "expected"),
    [
        (0, 0, 0.0, False),
        (ENOUGH - 1, 0, 0.0, False),
        (ENOUGH, 0, 0.0, True),
        (4 * ENOUGH - 1, ENOUGH, 0.0, False),
        (4 * ENOUGH, ENOUGH, 0.0, True),
        (256, 256, DRIFT, False),
        (256, 256, DRIFT + 0.01, True),
    ],
)
def test_planning_is_due_with_a_sample_that_grows_or_moves(
    events: int, planned: int, drift: float, expected: bool
) -> None:
    assert is_due(Sampled(events, planned, drift)) is expected


def test_a_fresh_index_gets_faster_by_what_it_has_seen_and_answers_the_same(view: View) -> None:
    events = [json.dumps(event(n) | {"n": 5}).encode() for n in range(100)]
    before = sum(view.index.postings_touched(events))
    answers = [view.index.match(each) for each in events]
    replanner = Replanner(Follower(view), 0.01)
    ask(view, 0, 64 * ENOUGH)
    core = view.index._native().core
    core.take_longest_update_ns()
    run(replanner, lambda: replanner.plans.replans == 1)
    assert core.take_longest_update_ns() < 5_000_000
    assert sum(view.index.postings_touched(events)) < before / 10
    assert [view.index.match(each) for each in events] == answers
    plans = replanner.plans
    assert plans.planned_events >= ENOUGH
    assert plans.last_seconds is not None
    view.index.check_invariants()
    ask(view, 0, 64)
    run(replanner, lambda: replanner.plans.sampled_events > ENOUGH)
    assert replanner.plans.replans == 1, "nothing has changed since"


def test_other_traffic_is_noticed(view: View) -> None:
    ask(view, 0, 64 * ENOUGH)
    view.index.sampled()
    view.index.replan()
    for n in range(64 * ENOUGH // 2):
        view.index.top({"place": f"q{n}", "segment": "s1"})
    sampled = view.index.sampled()
    assert sampled.planned >= ENOUGH
    assert sampled.drift > DRIFT
    assert is_due(sampled)


def test_statistics_take_over(view: View) -> None:
    replanner = Replanner(Follower(view), 0.01)
    ask(view, 0, 64 * ENOUGH)
    view.statistics = STATISTICS
    asyncio.run(_for(replanner, 0.1))
    assert replanner.plans.sampled_events == 0
    view.statistics = None
    with pytest.raises(Stopped):
        view.index.replan(lambda *_: _raise(Stopped))
    assert view.index.sampled().planned >= ENOUGH
    view.index.check_invariants()


def test_the_service_can_end_while_an_index_is_planned(view: View) -> None:
    replanner = Replanner(Follower(view), 0.01)
    replanner._stop.set()
    ask(view, 0, 64 * ENOUGH)
    asyncio.run(_for(replanner, 0.2))
    assert (replanner.plans.replans, replanner.plans.sampled_events) == (0, ENOUGH)


async def _for(replanner: Replanner, seconds: float) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(replanner.run(), seconds)


def _raise(error: type[Exception]) -> None:
    raise error
