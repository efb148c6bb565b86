"""A request that was sampled, and what it says about each campaign.

matched   ── asked again, without a limit
answered  ── as the answer had it
a miss    ── the first predicate in the way, or the first filter that lets it in when left out
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from campaigns.delivery.model import TARGETING, Reason
from index import EventError, Exclude, Index, Query
from index.event import Event, check_event
from index.language.json_form import from_json
from index.language.tree import Tree
from index.obstacles import first_obstacle
from index.scan import evaluate

MOST_TREES = 5000


@dataclass(frozen=True, slots=True)
class SampledRequest:
    """A request as the index was asked, and the ids in its answer, best first."""

    attributes: dict[str, object]
    query: Query
    answered: list[int]


class Trees:
    """The parsed expressions of an index, which are parsed again only if they change."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, Tree]] = {}

    def get(self, index: Index, id: int) -> Tree | None:
        """The expression of an id; None if it is gone."""
        text = index.tree_json(id)
        if text is None:
            return None
        known = self._known.get(id)
        if known is None or known[0] != text:
            if len(self._known) >= MOST_TREES:
                self._known.clear()
            known = self._known[id] = text, from_json(text, index.schema, index.limits)
        return known[1]


class Outcome:
    """A sampled request against the index of its time."""

    def __init__(self, index: Index, request: SampledRequest) -> None:
        """Raises `EventError` if the catalogue has changed meanwhile."""
        self._index = index
        self._request = request
        query = request.query
        # No operator is called here: what matched because of one is known from the answer.
        self.matched = self._ids(replace(query, limit=None, total=False)) | {*request.answered}
        self._is_full = query.limit is not None and len(request.answered) >= query.limit
        attributes = {**request.attributes, **(query.builtins or {})}
        self._event: Event = check_event(attributes, index.schema)[0]
        self._wider: dict[str, set[int]] = {}

    def reasons(self, ids: Iterable[int], trees: Trees) -> Iterator[tuple[int, Reason]]:
        """The first reason why each of these ids is not in the answer."""
        answered = set(self._request.answered)
        for id in ids:
            if id in answered:
                continue
            if id in self.matched:
                yield id, ("outranked" if self._is_full else "restricted", "")
            elif (tree := trees.get(self._index, id)) is not None:
                yield id, self._miss(id, tree)

    def _miss(self, id: int, tree: Tree) -> Reason:
        predicate = first_obstacle(tree, self._event)
        if predicate is None:
            return self._filter(id) if evaluate(tree, self._event) else (TARGETING, "")
        return TARGETING, str(predicate)

    def _filter(self, id: int) -> Reason:
        """Its targeting is true: the first filter that lets it in when it and those before it are
        left out. Muted advertisers are the only filter that cannot be left out."""
        query = replace(self._request.query, limit=None, total=False)
        exclude = query.exclude or Exclude()
        for code, left_out in (
            ("flight", {"at": None}),
            ("blocked", {"exclude": replace(exclude, labels=(), within=None)}),
            ("excluded", {"exclude": None}),
            ("floor", {"floor": 0}),
        ):
            query = replace(query, **left_out)
            if code not in self._wider:
                self._wider[code] = self._ids(query)
            if id in self._wider[code]:
                return code, ""
        return "advertiser_paused", ""

    def _ids(self, query: Query) -> set[int]:
        return set(self._index.ask(self._request.attributes, query).ids)


def outcome_of(index: Index, request: SampledRequest) -> Outcome | None:
    """The outcome; None if the request does not fit the index any more."""
    try:
        return Outcome(index, request)
    except EventError:
        return None
