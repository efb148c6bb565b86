"""The analyst: what is large runs in another process, which may die."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator

import pytest

from campaigns import analyst as module
from campaigns.analyst import SMALL, Analyst
from campaigns.campaign.targeting import Targeting, check_texts
from campaigns.errors import AnalysisFailed, FieldProblem
from index import Attribute, EventError, ExpressionError, Limits, Schema, parse
from index.event import check_event

LARGE = SMALL + 1
SCHEMA = Schema([Attribute("country", "string"), Attribute("age", "int")])


@pytest.fixture
async def analyst() -> AsyncIterator[Analyst]:
    async with Analyst() as analyst:
        yield analyst


async def test_what_is_small_stays_here_and_what_is_large_does_not(analyst: Analyst) -> None:
    assert await analyst.run(SMALL, os.getpid) == os.getpid()
    other = await analyst.run(LARGE, os.getpid)
    assert other != os.getpid()
    assert await analyst.run(LARGE, os.getpid) == other


async def test_results_are_the_same_there(analyst: Analyst) -> None:
    texts = ["country = 'US'", "contry = 'US'", "age >\n"]
    here, there = [
        await analyst.run(size, check_texts, texts, SCHEMA, Limits()) for size in (0, LARGE)
    ]
    assert isinstance(there[texts[0]], Targeting)
    assert there[texts[0]] == here[texts[0]]
    for text in texts[1:]:
        one, other = here[text], there[text]
        assert isinstance(one, FieldProblem)
        assert isinstance(other, FieldProblem)
        assert one.expression
        assert other.expression
        assert one.expression.render() == other.expression.render()


async def test_errors_come_back_as_they_are(analyst: Analyst) -> None:
    with pytest.raises(ExpressionError) as wrong:
        await analyst.run(LARGE, parse, "contry = 'US'", SCHEMA)
    assert (wrong.value.code, wrong.value.hint) == ("attribute.unknown", "did you mean country?")
    with pytest.raises(EventError) as event:
        await analyst.run(LARGE, check_event, {"age": "old"}, SCHEMA)
    assert [each.attribute for each in event.value.problems] == ["age"]


async def test_a_caller_that_goes_away_does_not_disturb_the_next(analyst: Analyst) -> None:
    await analyst.run(LARGE, os.getpid)
    leaving = asyncio.create_task(analyst.run(LARGE, time.sleep, 0.2))
    await asyncio.sleep(0.05)
    leaving.cancel()
    assert await analyst.run(LARGE, max, 3, 7) == 7


async def test_a_dead_process_is_replaced(analyst: Analyst) -> None:
    first = await analyst.run(LARGE, os.getpid)
    os.kill(first, signal.SIGKILL)
    assert await analyst.run(LARGE, os.getpid) != first
    with pytest.raises(AnalysisFailed):
        await analyst.run(LARGE, os.abort)
    assert await analyst.run(LARGE, max, 3, 7) == 7


async def test_no_analysis_takes_for_ever(
    analyst: Analyst, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.2)
    with pytest.raises(AnalysisFailed):
        await analyst.run(LARGE, time.sleep, 60)


async def test_it_ends_with_the_worker(analyst: Analyst) -> None:
    async with Analyst() as ended:
        process = await ended.run(LARGE, os.getpid)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_large_expressions_take_no_time_of_the_worker(analyst: Analyst) -> None:
    """By CPU time, which a busy machine does not change. Matches of the worker wait for as long as
    other threads of it compute."""
    text = " or ".join(f"age = {n} and age != {n + 1}" for n in range(500))
    await analyst.run(LARGE, os.getpid)
    started = time.process_time()
    check_texts([text], SCHEMA, Limits())
    one = time.process_time() - started
    started = time.process_time()
    analyses = (analyst.run(len(text), check_texts, [text], SCHEMA, Limits()) for _ in range(12))
    await asyncio.gather(*analyses)
    assert time.process_time() - started < one


async def test_small_expressions_are_analysed_one_at_a_time(analyst: Analyst) -> None:
    running = most = 0

    def analyse() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.01)
        running -= 1

    await asyncio.gather(*(analyst.run(SMALL, analyse) for _ in range(12)))
    assert most == 1
