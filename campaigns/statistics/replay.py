"""The sample against an index, with one version of the statistics and then with another.

Statistics must not change an answer, and should not make it dearer. What an answer costs is counted
in postings that were touched, which is the same on every machine; only the native core has them.
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
    """What came of it: how many requests were asked, how many were answered differently, and the
    postings touched with the old and with the new statistics (None: the engine has none)."""

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
    """Ask `index`, which nobody else uses, everything twice. It is left with `after`.

    A request that the index's schema refuses is passed over.
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
