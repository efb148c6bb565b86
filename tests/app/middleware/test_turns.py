"""Admin requests take turns, one step of one request in each turn of the event loop."""

import asyncio
from collections import Counter

import pytest
from starlette.types import Message, Receive, Scope, Send

from app.middleware.turns import AdminTurns

STEPS = 5


class LoopTurns:
    """Counts the turns of the event loop, until the block ends."""

    def __init__(self) -> None:
        self.count = 0

    async def __aenter__(self) -> "LoopTurns":
        self._counting = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._counting.cancel()

    async def _run(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)


async def nothing() -> Message:
    return {}


async def nowhere(_: Message) -> None:
    pass


async def call(app: AdminTurns, path: str = "/v1/campaigns") -> None:
    await app({"type": "http", "path": path}, nothing, nowhere)


async def steps_at_once(path: str) -> Counter[int]:
    """How many steps of twelve requests ran in each turn of the loop."""
    seen: Counter[int] = Counter()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for _ in range(STEPS):
            seen[turns.count] += 1
            await asyncio.sleep(0)

    admin = AdminTurns(app)
    async with LoopTurns() as turns:
        await asyncio.sleep(0)
        await asyncio.gather(*(call(admin, path) for _ in range(12)))
    assert seen.total() == 12 * STEPS
    return seen


async def test_one_step_in_each_turn_of_the_loop() -> None:
    assert max((await steps_at_once("/v1/campaigns")).values()) == 1


async def test_probes_do_not_wait() -> None:
    assert max((await steps_at_once("/healthz/live")).values()) == 12


async def test_who_waits_has_no_turn() -> None:
    ready = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/slow":
            await ready.wait()  # a client that does not read

    admin = AdminTurns(app)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        slow = group.create_task(call(admin, "/slow"))
        await asyncio.sleep(0)
        for _ in range(3):
            await call(admin)
        assert not slow.done()
        ready.set()


async def test_errors_and_ends_give_the_turn_back() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/raises":
            raise ValueError("no")
        if scope["path"] == "/waits":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append(scope["path"])
                raise

    ended: list[str] = []
    admin = AdminTurns(app)
    async with asyncio.timeout(5):
        with pytest.raises(ValueError, match="no"):
            await call(admin, "/raises")
        waiting = [asyncio.create_task(call(admin, "/waits")) for _ in range(3)]
        await asyncio.sleep(0)  # the first waits for its timer, the others for a turn
        for each in waiting:
            each.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError)
            for each in await asyncio.gather(*waiting, return_exceptions=True)
        )
        await call(admin)
    assert ended == ["/waits"]
