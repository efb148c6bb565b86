"""The analyst: what is not short runs in other processes, which may die."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import pytest

from campaigns import analyst as module
from campaigns.analyst import ORDINARY, SHORT, Analyst
from campaigns.campaign.targeting import Targeting, check_texts
from campaigns.errors import AnalysisFailed, FieldProblem
from index import Attribute, EventError, ExpressionError, Limits, Schema, parse
from index.event import check_event
from testkit import ROOT

LARGE = ORDINARY + 1
SCHEMA = Schema([Attribute("country", "string"), Attribute("age", "int")])


@pytest.fixture
async def analyst() -> AsyncIterator[Analyst]:
    async with Analyst() as analyst:
        yield analyst


async def test_what_is_short_stays_here_and_the_rest_has_two_processes(analyst: Analyst) -> None:
    here = os.getpid()
    sizes = (SHORT, SHORT + 1, LARGE, ORDINARY, LARGE + 1)
    short, ordinary, long, *again = [await analyst.run(size, os.getpid) for size in sizes]
    assert short == here
    assert len({here, ordinary, long}) == 3
    assert again == [ordinary, long]


async def test_the_ordinary_do_not_wait_for_the_long(analyst: Analyst) -> None:
    long = asyncio.create_task(analyst.run(LARGE, time.sleep, 30))
    assert await analyst.run(ORDINARY, max, 3, 7) == 7
    assert not long.done()
    long.cancel()


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


WORKER = """
import asyncio, os, time
from campaigns.analyst import ORDINARY, Analyst
from campaigns.campaign.targeting import check_texts
from index import Attribute, Limits, Schema

async def main():
    text = " or ".join(f"age = {n} and age != {n + 1}" for n in range(500))
    arguments = [text], Schema([Attribute("age", "int")]), Limits()
    async with Analyst() as analyst:
        await analyst.run(ORDINARY + 1, os.getpid)
        started = time.process_time()
        check_texts(*arguments)
        one = time.process_time()
        await asyncio.gather(
            *(analyst.run(len(text), check_texts, *arguments) for _ in range(12))
        )
        print(one - started, time.process_time() - one)

asyncio.run(main())
"""


def test_large_expressions_take_no_time_of_the_worker() -> None:
    """By CPU time of all threads, which a busy machine does not change; in a process of its own,
    which has no threads of other tests. Matches of a worker wait for as long as other threads of it
    compute."""
    command = [sys.executable, "-c", WORKER]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    one, twelve = map(float, done.stdout.split())
    assert twelve < one
