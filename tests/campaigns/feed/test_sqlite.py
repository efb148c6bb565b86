"""SQLite alone: several replicas poll the same file."""

import asyncio
import shutil
from pathlib import Path

import pytest

from campaigns.feed.service import WorkerFeed
from campaigns.feed.sqlite import NotAFile, SqliteSource
from tests.campaigns.feed.conftest import at
from tests.campaigns.feed.sqlite_writing import SqliteWriter


async def test_two_replicas_follow_one_file(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path / "copse.db")
    url = f"sqlite:///{tmp_path}/copse.db"

    writer.put(1, ends_at="2026-11-20 00:00:00.500000")
    async with (
        WorkerFeed(url, poll=0.05) as one,
        WorkerFeed(url, "redis://127.0.0.1:1/0", poll=0.05) as two,
    ):
        for age in range(3):
            for id in range(2, 600):
                writer.put(id, age)
            for feed in (one, two):
                await at(feed.follower, writer.truth(), 5)
        view = await one.follower.reached(0)
        assert view.index.match({"age": 0}, at=1795132800.0) == [1]  # 2026-11-20T00:00:00Z
        assert view.index.match({"age": 0}, at=1795132800.5) == []
        assert view.index.labels(1) == ["IAB1"]
        assert view.domains == {1: "a.example"}
        assert one.follower.counts["load", "failure"] == 0
    writer.close()


async def test_a_file_is_put_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "copse.db"
    writer = SqliteWriter(path)
    for id in range(5):
        writer.put(id)
    writer.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, tmp_path / "backup.db")

    async with WorkerFeed(f"sqlite:///{path}", poll=0.05) as feed:
        writer.put(99)
        await at(feed.follower, writer.truth(), 5)
        writer.close()
        for name in ("copse.db-wal", "copse.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / "backup.db").replace(path)
        restored = SqliteWriter(path)
        restored.put(50)
        restored.put(51)
        await at(feed.follower, restored.truth(), 5)
        view = await feed.follower.reached(0)
        assert 99 not in view.index
        restored.close()


async def test_a_file_that_is_not_there_is_waited_for_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "copse.db"

    async with WorkerFeed(f"sqlite:///{path}", poll=0.05) as feed:
        await asyncio.sleep(0.2)
        assert not path.exists()
        writer = SqliteWriter(path)
        writer.put(1)
        await at(feed.follower, writer.truth(), 5)
        writer.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_cannot_be_followed(url: str) -> None:
    with pytest.raises(NotAFile):
        SqliteSource(url)
