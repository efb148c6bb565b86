"""Forecasts how many requests a day a targeting would match, by matching sampled requests.

The expression, and the expression without each of its predicates, go into an index of their own;
the sample is matched against it once. So a forecast says what the service would answer, and which
predicate limits it most.

Matched, not won: which campaign gets a request is decided elsewhere.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.catalogue.privacy import not_logged
from campaigns.statistics.estimate import Estimate, Sums, estimate, unknown
from campaigns.statistics.relaxation import Dropped, compared, left_out, nearest_miss
from campaigns.statistics.sample import Sampled
from index import EventError, Index, Limits, Query, Schema, parse
from index.language import Tree

MEANING = (
    "matched, not won: the targeting matches this many requests a day; "
    "how many of them a campaign gets depends on its competitors"
)

PAUSE_EVERY = 50
"""How many requests are matched between two pauses."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast for one targeting; `unreadable` sampled requests do not fit the catalogue."""

    estimate: Estimate
    requests_per_day: float
    asked: int
    unreadable: int
    window: Mapping[str, Any]
    sample_rate: float
    without: tuple[Dropped, ...]
    not_logged: tuple[str, ...] = ()
    """Attributes of the targeting that are never logged: then nothing can be said."""

    @property
    def nearest_miss(self) -> Dropped | None:
        """The predicate whose removal would add the most requests."""
        return nearest_miss(self.without, self.estimate.requests)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as clients see it, without its statistics version."""
        found, nearest = self.estimate, self.nearest_miss
        return {
            "matched_requests_per_day": {
                "low": math.floor(found.low),
                "high": math.ceil(found.high),
            },
            "insufficient_data": found.insufficient,
            "not_logged": list(self.not_logged),
            "hits": found.hits,
            "sampled_requests": self.asked,
            "unreadable_requests": self.unreadable,
            "sample_rate": self.sample_rate,
            "requests_per_day": round(self.requests_per_day),
            "day_to_day_spread": round(found.spread, 4),
            "window": {name: self.window[name] for name in ("from", "to", "days")},
            "without": [dropped.to_dict() for dropped in self.without],
            "nearest_miss": None if nearest is None else nearest.to_dict(),
            "meaning": MEANING,
        }


def forecast(
    expression: Tree | str,
    schema: Schema,
    sample: Sequence[Sampled],
    document: Mapping[str, Any],
    limits: Limits = Limits(),  # noqa: B008 (immutable)
    pause: Callable[[], None] | None = None,
) -> Forecast:
    """Match the sample against an expression. `pause` is called regularly, so that a thread can let
    others run."""
    tree = parse(expression, schema, limits) if isinstance(expression, str) else expression
    dropped = left_out(tree)
    index = Index(schema, limits=limits)
    index.insert_many(enumerate([tree, *(rest for _, rest in dropped)]))
    asked: dict[str, Sums] = {}
    hits: list[dict[str, Sums]] = [{} for _ in range(len(index))]
    unreadable = 0
    for place, sampled in enumerate(sample):
        if pause is not None and place % PAUSE_EVERY == 0:
            pause()
        try:
            matched = index.ask(sampled.attributes, Query(builtins=sampled.builtins)).ids
        except EventError:
            unreadable += 1
            continue
        asked.setdefault(sampled.day, Sums()).add(sampled.weight)
        for id in matched:
            hits[id].setdefault(sampled.day, Sums()).add(sampled.weight)
    private = not_logged(tree)
    found = unknown(document) if private else estimate(document, asked, hits[0])
    by_day = document["requests_by_day"]
    return Forecast(
        found,
        sum(by_day.values()) / len(by_day),
        len(sample) - unreadable,
        unreadable,
        document["window"],
        document["sample"]["rate"],
        tuple(
            compared(predicate, estimate(document, asked, some).requests, found.requests)
            for (predicate, _), some in zip(dropped, hits[1:], strict=True)
            if not private
        ),
        tuple(private),
    )
