"""Statistics into the index of a view, while changes go on being applied to it.

    change ─▶ view.statistics        the version to use: in log order, at once
                   │
                   ▼  Arranger       fetches the document by its id, and checks it
              index.use_statistics   in a thread: plans every expression again, one at a time
                   │
                   ▼
              view.arranged          the version that the index uses

Nothing waits for this: matches go on, and so do changes, which the index takes between any two
expressions. Statistics never change an answer, so a view that uses older ones, or none because they
cannot be fetched, is as right as any other.
"""

import asyncio
import logging
from typing import Protocol

import orjson

from campaigns.backoff import Backoff
from campaigns.feed import queries
from campaigns.feed.apply import poison
from campaigns.feed.source import Reading, Source
from campaigns.feed.view import NamedStatistics, Poisoned, View
from campaigns.log.changes import STATISTICS
from campaigns.statistics.document import checksum_of, for_index

log = logging.getLogger(__name__)

BACKOFF = Backoff(0.1, 10.0)


class BadStatistics(ValueError):
    """A document that is missing, is not the one that was activated, or that the index rejects."""


class Followed(Protocol):
    """A follower: the view that it serves, and when that moves on."""

    @property
    def current(self) -> View | None: ...

    async def moved(self) -> None: ...


class Arranger:
    """Keeps the index of a follower's view arranged by the statistics that the log names."""

    def __init__(self, source: Source, follower: Followed) -> None:
        self._source = source
        self._follower = follower

    async def run(self) -> None:
        """Arrange the index whenever its statistics are not the wanted ones, until cancelled."""
        failures = 0
        while True:
            view = self._follower.current
            if view is None or not wants_arranging(view):
                await self._follower.moved()
                continue
            try:
                await self._arrange(view, view.statistics)
                failures = 0
            except Exception as error:
                if not failures:
                    log.warning("cannot fetch the statistics: %s: %s", type(error).__name__, error)
                await asyncio.sleep(BACKOFF.delay(failures))
                failures += 1

    async def _arrange(self, view: View, wanted: NamedStatistics | None) -> None:
        text = None
        if wanted is not None:
            async with self._source.repeatable_read() as reading:
                text = await document(reading, wanted)
        try:
            await asyncio.to_thread(arrange, view, wanted, text)
        except BadStatistics as error:
            refuse(view, wanted, error)
            return
        log.info("the index is arranged by the statistics %s", wanted.id if wanted else "none")


def wants_arranging(view: View) -> bool:
    """Whether the index does not use the wanted statistics, and could."""
    if view.settled and view.arranged == view.statistics:
        return False
    wanted = view.statistics
    return wanted is None or (STATISTICS, str(wanted.id)) not in view.poisoned


async def document(reading: Reading, wanted: NamedStatistics) -> str | None:
    """The document of a version; None if it is missing."""
    rows = await reading.rows(queries.statistics_document(wanted.id))
    return rows[0][0] if rows else None


def arrange(view: View, wanted: NamedStatistics | None, text: str | None) -> None:
    """Make a view's index use these statistics, or none. On `BadStatistics` nothing has changed. It
    plans every expression again, so it belongs into a thread."""
    statistics: bytes | None = None
    if wanted is not None:
        if text is None or checksum_of(text.encode()) != wanted.checksum:
            raise BadStatistics("the document is missing, or not the one that was activated")
        try:
            # As bytes: the `json` module would hold the event loop several times as long.
            statistics = orjson.dumps(for_index(orjson.loads(text)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadStatistics(f"not a statistics document: {error}") from error
    settled, view.settled = view.settled, False
    try:
        view.index.use_statistics(statistics)
    except (ValueError, TypeError) as error:
        view.settled = settled
        raise BadStatistics(str(error)) from error
    view.arranged, view.settled = wanted, True


def refuse(view: View, wanted: NamedStatistics | None, error: BadStatistics) -> None:
    """Report statistics that cannot be used; the index stays arranged as it is."""
    assert wanted is not None, "an index can always do without statistics"
    poison(view, Poisoned(view.place.rev, STATISTICS, str(wanted.id), str(error)))
