"""Who is answered next, and who is refused."""

import asyncio
from time import perf_counter

import pytest

from app.server import match_queue
from app.server.match_queue import MatchQueue

LONGEST_WAIT = 0.25


class Request:
    """Notes what becomes of it; an answer takes a whole turn."""

    def __init__(self, number: int, answered: list[int], refused: list[int]) -> None:
        self.number = number
        self.answered = answered
        self.refused = refused

    def answer(self) -> bool:
        self.answered.append(self.number)
        return True

    def shed(self, waited: float) -> None:
        self.refused.append(self.number)


class Broken(Request):
    def answer(self) -> bool:
        raise RuntimeError("broken")


async def emptied(queue: MatchQueue) -> None:
    while len(queue):
        await asyncio.sleep(0)


async def test_a_burst_is_answered_oldest_first() -> None:
    queue, answered, refused = MatchQueue(LONGEST_WAIT), list[int](), list[int]()
    long_ago = perf_counter() - 10
    for number in range(20):
        queue.add(long_ago, Request(number, answered, refused))
    await emptied(queue)
    assert answered == list(range(20))
    assert refused == []


async def test_in_an_overload_the_newest_is_answered_and_the_old_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(match_queue, "INTERVAL", -1.0)  # the first look decides
    queue, answered, refused = MatchQueue(1000.0), list[int](), list[int]()
    now = perf_counter()
    for number in range(6):
        age = (200, 200, 60, 40, 0, 0)[number]
        queue.add(now - age, Request(number, answered, refused))
    await emptied(queue)
    assert refused == [0, 1, 2]
    assert answered == [5, 4, 3]
    assert not queue.is_overloaded, "it ends when the queue is empty"


async def test_a_request_that_breaks_does_not_stop_the_queue() -> None:
    queue, answered, refused = MatchQueue(LONGEST_WAIT), list[int](), list[int]()
    errors: list[object] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: errors.append(context["exception"]))
    now = perf_counter()
    queue.add(now, Broken(0, answered, refused))
    queue.add(now, Request(1, answered, refused))
    await emptied(queue)
    queue.add(now, Request(2, answered, refused))
    await emptied(queue)
    assert answered == [1, 2]
    assert [str(error) for error in errors] == ["broken"]
