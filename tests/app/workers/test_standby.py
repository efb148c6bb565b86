"""Who accepts connections while workers start and end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from app.workers.peers import Peer
from app.workers.readiness import Readiness
from app.workers.standby import Standby


@dataclass
class Ready:
    """The readiness of a worker that does not exist."""

    ready: bool = False

    def is_ready(self) -> bool:
        return self.ready


@dataclass
class Worker:
    """A worker that only has a socket for the others."""

    readiness: Ready = field(default_factory=Ready)
    accepted: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.standby = Standby(cast(Readiness, self.readiness))
        self.standby.on_change = self.accepted.append

    @asynccontextmanager
    async def running(self, directory: Path, name: str) -> AsyncIterator["Worker"]:
        async with Peer(directory, name, self.standby.answers) as peer:
            task = asyncio.create_task(self.standby.run(peer))
            try:
                yield self
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not check():
            await asyncio.sleep(0.001)


async def test_while_nobody_is_ready_all_accept_so_that_probes_are_answered(tmp_path: Path) -> None:
    one, two = Worker(), Worker()
    async with one.running(tmp_path, "w0"), two.running(tmp_path, "w1"):
        await until(lambda: one.standby.accepts and two.standby.accepts)
        assert not one.standby.is_known


async def test_whoever_is_ready_says_so_only_after_the_others_stand_by(tmp_path: Path) -> None:
    one, two = Worker(), Worker()
    async with one.running(tmp_path, "w0"), two.running(tmp_path, "w1"):
        await until(lambda: one.standby.accepts and two.standby.accepts)
        two.readiness.ready = True
        await until(lambda: two.standby.is_known)
        assert one.accepted == [True, False]
        assert two.accepted == [True]
        one.readiness.ready = True
        await until(lambda: one.standby.is_known)
        assert one.accepted == [True, False, True]
        assert two.standby.accepts


async def test_a_worker_that_starts_beside_a_ready_one_never_accepts_before_it_is_ready(
    tmp_path: Path,
) -> None:
    old, new = Worker(Ready(True)), Worker()
    async with old.running(tmp_path, "w0"):
        await until(lambda: old.standby.is_known)
        async with new.running(tmp_path, "w1"):
            await asyncio.sleep(0.1)
            new.readiness.ready = True
            await until(lambda: new.standby.is_known)
            assert new.accepted == [True]


async def test_when_the_ready_one_is_gone_the_other_answers_probes(tmp_path: Path) -> None:
    old, new = Worker(Ready(True)), Worker()
    async with new.running(tmp_path, "w1"), old.running(tmp_path, "w0"):
        await until(lambda: old.standby.is_known and not new.standby.accepts)
        old.standby.end()
        await until(lambda: new.standby.accepts)


async def test_a_worker_may_end_if_another_one_is_ready_and_stays(tmp_path: Path) -> None:
    workers = [Worker(Ready(True)), Worker(Ready(True)), Worker()]
    one, two, three = (each.standby for each in workers)
    async with AsyncExitStack() as stack:
        for number, each in enumerate(workers):
            await stack.enter_async_context(each.running(tmp_path, f"w{number}"))
        await until(lambda: one.is_known and two.is_known)
        assert await three.may_end(), "nobody misses a worker without an index"
        assert await two.may_end()
        assert not await one.may_end() or not await two.may_end(), "one of two must stay"
        assert await one.may_end()
        one.end()
        assert not await two.may_end()
        workers[2].readiness.ready = True
        assert await two.may_end()
        assert not await three.may_end(), "it is the last one, and was told to end, too"
