"""Statistics into the index of a view, beside the changes that go on being applied to it.

    change ─▶ view.statistics        which version should steer: in the order of the log, at once
                   │
                   ▼  arranger.py    the document is fetched aside, by its id, and checked
              index.use_statistics   in a thread: every expression is planned anew, one at a time
                   │
                   ▼
              view.arranged          which version the index is arranged by

Nobody waits for it: matches go on, and so do changes, which the index takes between any two
expressions. Statistics never change an answer, so a view that is arranged by older ones, or by none
since they cannot be fetched, is as right as any.
"""

import orjson

from campaigns.feed import queries
from campaigns.feed.apply import poison
from campaigns.feed.source import Reading
from campaigns.feed.view import NamedStatistics, Poisoned, View
from campaigns.log.changes import STATISTICS
from campaigns.statistics.document import checksum_of, for_index


class BadStatistics(ValueError):
    """A document that is not there, is not the one that was named, or that the index refuses."""


def wants_arranging(view: View) -> bool:
    """Whether the index is not arranged as it should be, and could be."""
    if view.settled and view.arranged == view.statistics:
        return False
    wanted = view.statistics
    return wanted is None or (STATISTICS, str(wanted.id)) not in view.poisoned


async def document(reading: Reading, wanted: NamedStatistics) -> str | None:
    """The document of a version; None if there is none."""
    rows = await reading.rows(queries.statistics_document(wanted.id))
    return rows[0][0] if rows else None


def arrange(view: View, wanted: NamedStatistics | None, text: str | None) -> None:
    """Let statistics steer a view's index, or none; `BadStatistics`, and nothing has changed. It
    takes as long as planning every expression: mind the event loop."""
    statistics: bytes | None = None
    if wanted is not None:
        if text is None or checksum_of(text.encode()) != wanted.checksum:
            raise BadStatistics("the document is not there, or not the one that was activated")
        try:
            # As bytes: `json` would keep the event loop waiting several times as long.
            statistics = orjson.dumps(for_index(orjson.loads(text)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadStatistics(f"this is no document: {error}") from error
    settled, view.settled = view.settled, False
    try:
        view.index.use_statistics(statistics)
    except (ValueError, TypeError) as error:
        view.settled = settled
        raise BadStatistics(str(error)) from error
    view.arranged, view.settled = wanted, True


def refuse(view: View, wanted: NamedStatistics | None, error: BadStatistics) -> None:
    """Be loud about statistics that cannot be used; the index stays arranged as it is."""
    assert wanted is not None, "to have none is always possible"
    poison(view, Poisoned(view.place.rev, STATISTICS, str(wanted.id), str(error)))
