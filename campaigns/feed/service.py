"""The feed of one worker: its follower, its statistics, and its candidacy for the relay.

>>> async with WorkerFeed("postgresql://…", "redis://…") as feed:  # doctest: +SKIP
...     view = await feed.follower.reached(0)
"""

import asyncio
from pathlib import Path
from typing import Self

from campaigns.feed.follower import Around, Follower
from campaigns.feed.index_file import IndexFile
from campaigns.feed.load import Progress
from campaigns.feed.postgres import PostgresSource
from campaigns.feed.relay import keep_relaying
from campaigns.feed.replica import Timing
from campaigns.feed.source import Source
from campaigns.feed.sqlite import SqliteSource
from campaigns.feed.stream import Stream
from campaigns.feed.view import View
from campaigns.statistics.apply import Arranger
from campaigns.statistics.replan import OwnPlans, Replanner
from index import Limits


def open_source(database_url: str) -> Source:
    """The source for a database URL."""
    if database_url.startswith("sqlite"):
        return SqliteSource(database_url)
    return PostgresSource(database_url)


class WorkerFeed:
    """Follows the database while the context is open; `current` is None until the first load.

    Redis is used with Postgres only: replicas of a SQLite file poll it as fast as a relay could.
    """

    def __init__(
        self,
        database_url: str,
        redis_url: str | None = None,
        *,
        relay: bool = True,
        poll: float = 0.2,
        limits: Limits | None = None,
        keep_in: Path | None = None,
        progress: Progress | None = None,
        around: Around | None = None,
    ) -> None:
        self._source = open_source(database_url)
        self._stream: Stream | None = None
        self._relay: tuple[str, str] | None = None
        if redis_url and isinstance(self._source, PostgresSource):
            self._stream = Stream(redis_url, self._source)
            self._relay = (database_url, redis_url) if relay else None
        self.kept = IndexFile(keep_in) if keep_in else None
        self.follower = Follower(
            self._source,
            self._stream,
            timing=Timing(stream=self._stream is not None, poll=poll),
            limits=limits,
            kept=self.kept,
            progress=progress,
            around=around,
        )
        self._arranger = Arranger(self._source, self.follower)
        self._replanner = Replanner(self.follower)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def current(self) -> View | None:
        """The view to answer from now."""
        return self.follower.current

    @property
    def plans(self) -> OwnPlans:
        """What the index has planned by its own sample."""
        return self._replanner.plans

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self.follower.run()),
            asyncio.create_task(self._arranger.run()),
            asyncio.create_task(self._replanner.run()),
        ]
        if self._relay is not None:
            self._tasks.append(asyncio.create_task(keep_relaying(*self._relay)))
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._stream is not None:
            await self._stream.close()
        await self._source.close()
