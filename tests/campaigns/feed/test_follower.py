"""The shell around the core: threads, failures that nobody thought of, staleness."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from campaigns.backoff import Backoff
from campaigns.feed import follower as module
from campaigns.feed.apply import apply
from campaigns.feed.follower import Follower
from campaigns.feed.index_file import IndexFile
from campaigns.feed.replica import Timing
from campaigns.feed.sqlite import SqliteSource
from campaigns.feed.view import View
from campaigns.log.changes import Change
from index import Limits
from tests.campaigns.feed.conftest import eventually
from tests.campaigns.feed.sqlite_writing import SqliteWriter

QUICK = Timing(stream=False, heartbeat=0.1, poll=0.02, retry=Backoff(0.05, 0.1))


@asynccontextmanager
async def following(path: Path) -> AsyncIterator[Follower]:
    source = SqliteSource(f"sqlite:///{path}")
    follower = Follower(source, timing=QUICK)
    task = asyncio.create_task(follower.run())
    try:
        async with asyncio.timeout(10):
            await follower.reached(0)
        yield follower
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await source.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copse.db"


async def test_many_changes_are_applied_beside_the_event_loop(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[tuple[int, bool]] = []

    def watched(view: View, changes: Sequence[Change]) -> None:
        main = threading.current_thread() is threading.main_thread()
        threads.append((len(changes), main))
        before = view.place.rev
        apply(view, changes)
        assert view.place.rev == before + len(changes)

    monkeypatch.setattr(module, "apply", watched)
    writer = SqliteWriter(path)

    async with following(path) as follower:
        await follower.reached(writer.put(1))
        async with follower._applying:
            for id in range(2, 400):
                rev = writer.put(id)
            await asyncio.sleep(0.1)
        await follower.reached(rev)
    writer.close()
    assert threads[0] == (1, True)
    assert max(threads)[0] > 100
    assert all(main == (count <= module.HANDFUL) for count, main in threads)


async def test_what_nobody_thought_of_costs_a_reload(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([True, True])

    def fails_twice(view: View, changes: Sequence[Change]) -> None:
        if next(failures, False):
            raise MemoryError("no room")
        apply(view, changes)

    monkeypatch.setattr(module, "apply", fails_twice)
    writer = SqliteWriter(path)

    async with following(path) as follower:
        for id in range(1, 5):
            view = await follower.reached(writer.put(id))
            assert (*view.place[:2], view.digest()) == writer.truth()
        assert follower.counts["load", "failure"] == 2
    writer.close()
    assert "the replica failed" in caplog.text


async def test_it_says_how_stale_it_is_and_goes_on_serving(path: Path) -> None:
    writer = SqliteWriter(path)

    async with following(path) as follower:
        view = await follower.reached(writer.put(1))

        async def fresh() -> bool:
            return follower.stale_seconds == 0.0

        await eventually(fresh, 5, "in step")
        path.rename(path.with_suffix(".away"))

        async def stale() -> bool:
            return (follower.stale_seconds or 0) > 0.3

        await eventually(stale, 5, "nothing is heard of the database")
        assert follower.describe()["failing"] == ["log"]
        assert view.index.match({"age": 0}) == [1]
        path.with_suffix(".away").rename(path)
        await eventually(fresh, 5, "in step again")
        assert follower.current is view
    writer.close()


async def test_an_index_is_kept_while_changes_arrive(path: Path, tmp_path: Path) -> None:
    writer = SqliteWriter(path)

    kept = IndexFile(tmp_path / "kept")
    async with following(path) as follower:
        for round in range(5):
            for id in range(1, 50):
                writer.put(id, round)
            await follower.save(kept)
            # Each of the first 49 revs adds a campaign: what was saved is of one moment.
            saved = kept.load(Limits())
            assert len(saved.index) == min(saved.place.rev, 49)
        await follower.reached(writer.truth()[1])
        await follower.save(kept)
        assert (*kept.load(Limits()).place[:2], kept.load(Limits()).digest()) == writer.truth()
    writer.close()
