"""Replays the sample on an index, with one version of the statistics and then with another.

Statistics must not change an answer, and should not make it more expensive. The cost is the number
of postings that a match touches, which is the same on every machine; only the native core counts
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from campaigns.statistics.document import for_index
from campaigns.statistics.sample import Sampled
from index import EventError, Index, Query


@dataclass(frozen=True, slots=True)
class Replay:
    """The number of requests, of different answers, and of postings touched with the old and with
    the new statistics (None: the engine does not count them)."""

    requests: int
    different: int
    cost_before: int | None
    cost_after: int | None


def replay(
    index: Index,
    sample: Sequence[Sampled],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
) -> Replay:
    """Match the sample twice on `index`, which has no other user and afterwards uses `after`.

    Requests that do not fit the index's schema are skipped.
    """
    index.use_statistics(None if before is None else for_index(before))
    events = []
    answers = []
    for sampled in sample:
        try:
            answers.append(_ask(index, sampled))
        except EventError:
            continue
        events.append(sampled)
    cost_before = _cost(index, events)
    index.use_statistics(for_index(after))
    different = sum(
        _ask(index, event) != answer for event, answer in zip(events, answers, strict=True)
    )
    return Replay(len(events), different, cost_before, _cost(index, events))


def _ask(index: Index, sampled: Sampled) -> list[int]:
    return index.ask(sampled.attributes, Query(builtins=sampled.builtins)).ids


def _cost(index: Index, events: Sequence[Sampled]) -> int | None:
    if index.stats()["engine"] != "native":
        return None
    whole = [orjson.dumps(orjson.loads(event.attributes) | event.builtins) for event in events]
    return sum(index.postings_touched(whole))
