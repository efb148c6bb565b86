"""Decides the pending candidates of one event: which calls to make, and the answer they lead to.

    settlement = Settlement(index, event, query, known=cache.get)
    while calls := settlement.wanted():
        settlement.learn(make(calls))        # nothing is locked meanwhile
    settlement.matches()

Windows, mutes, exclusions and floors have been applied when the index names its candidates. They
come best first, a few at a time, until `limit` of them are certain; for all matches or their total,
the pending ones are all decided. The calls of one operator that
the best candidates need come together. A call without a result is unknown: what needs it does not
match, and the answer may lack it. So fewer results never make more matches.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from index.backends.backend import Attributes
from index.costly.formula import CallKey, PassRate, Pending, calls_in
from index.costly.order import Order, Verdict
from index.event import check_event, read_event
from index.language.predicate import Predicate
from index.language.types import Scalar
from index.matches import Matches, PythonMatches
from index.query import Query

if TYPE_CHECKING:
    from index.facade import Index

FIRST = 4
"""How many times the limit is asked for at first, and again each time that is not enough."""

MISSING = object()
"""What `known` returns for a call whose result is not known."""


class _Certain:
    """A candidate that no call decides."""

    def verdict(self) -> Verdict[CallKey]:
        return True

    def learn(self, call: CallKey, result: object) -> Verdict[CallKey]:
        return True


class Settlement:
    """The candidates of one event, and what is known of them.

    `known` returns the result of a call that was made before, or `MISSING`; `cost` is that of a
    call of an operator, `rate` how often a predicate on its results is true. With `most`, no more
    candidates than that are looked at.
    """

    def __init__(
        self,
        index: "Index",
        event: Attributes,
        query: Query,
        known: Callable[[CallKey], object] | None = None,
        cost: Callable[[str], float] = lambda operator: 1.0,
        rate: PassRate = lambda operator, predicate: 0.5,
        most: int | None = None,
    ) -> None:
        self._index = index
        self._sent = event
        self._query = query
        self._known = known
        self._rate = rate
        sent = read_event(event) if isinstance(event, bytes) else event
        self._event, _ = check_event({**sent, **(query.builtins or {})}, index.schema)
        self.results: dict[CallKey, Scalar | None] = {}
        self.predicates: dict[CallKey, dict[Predicate, None]] = {}
        """What the candidates ask of each result."""
        self._ids: list[int] = []
        self._scores: list[int] = []
        self._needs_all = query.total or query.limit is None
        self._order: Order[CallKey] = Order(
            cost=lambda call: cost(call.operator), limit=None if self._needs_all else query.limit
        )
        self._most = max(len(index) if most is None else min(most, len(index)), 1)
        self._size = query.limit or 0
        self._pending: frozenset[int] = frozenset()
        self._all: list[int] = []
        """All candidates by id, if all are needed. Then only pending ones are in the order."""
        self._is_all = False
        self._has_more = False

    def wanted(self) -> list[CallKey]:
        """The calls to make next, all of one operator, the most useful first; none if the answer
        is known."""
        while True:
            call = self._order.next()
            if call is not None:
                same = [each for each in self._order.wanted() if each.operator == call.operator]
                return [call, *(each for each in same if each != call)]
            if self._is_all or not self._order.is_short:
                return []
            if self._needs_all:
                self._fetch_all()
            else:
                self._fetch()

    def learn(self, results: Mapping[CallKey, Scalar | None]) -> None:
        """Take results; None for a call that has none."""
        self.results.update(results)
        for call, result in results.items():
            self._order.learn(call, result)

    def give_up(self) -> None:
        """Make no more calls: whatever needs one is unknown."""
        self._known = None
        while calls := self.wanted():
            self.learn(dict.fromkeys(calls))

    @property
    def was_cut(self) -> bool:
        """Whether more candidates could have matched than may be looked at."""
        return self._has_more and self._order.is_short

    def matches(self) -> PythonMatches:
        """The answer, with the calls that were made."""
        self.give_up()
        if self._needs_all:
            return self._all_matches()
        places = self._order.matching
        ids = [self._ids[place] for place in places]
        return PythonMatches(ids, [self._scores[place] for place in places], None)

    def _all_matches(self) -> PythonMatches:
        query = self._query
        matching = {self._ids[place] for place in self._order.matching}
        refuted = self._pending - matching
        ids = [id for id in self._all if id not in refuted]
        total = len(ids) if query.total else None
        if query.limit is None:
            return PythonMatches(ids, None, total)
        found = self._best(query.limit + len(refuted))
        pairs = zip(found.ids, found.scores or (), strict=True)
        best = [(id, score) for id, score in pairs if id not in refuted][: query.limit]
        return PythonMatches([id for id, _ in best], [score for _, score in best], total)

    def _best(self, limit: int | None) -> Matches:
        query = self._query
        more = Query(query.at, limit, False, query.exclude, query.floor, query.builtins)
        return self._index.candidates(self._sent, more)

    def _fetch_all(self) -> None:
        found = self._best(None)
        self._all, self._is_all = found.ids, True
        self._pending = frozenset(found.pending)
        self._ids = found.pending[: self._most]
        self._has_more = len(self._ids) < len(self._pending)
        self._order.add(self._candidates(iter(self._ids), self._pending))

    def _fetch(self) -> None:
        """More candidates. Those that changes moved meanwhile are not asked for again."""
        self._size = min(self._size * FIRST, self._most)
        found = self._best(self._size)
        self._is_all = len(found) < self._size or self._size >= self._most
        self._has_more = self._is_all and len(found) == self._size < len(self._index)
        pending, seen = frozenset(found.pending), frozenset(self._ids)
        fresh = [
            (id, score)
            for id, score in zip(found.ids, found.scores or (), strict=True)
            if id not in seen
        ]
        self._ids += [id for id, _ in fresh]
        self._scores += [score for _, score in fresh]
        self._order.add(self._candidates((id for id, _ in fresh), pending))

    def _candidates(
        self, ids: Iterator[int], pending: frozenset[int]
    ) -> Iterator[Pending | _Certain]:
        for id in ids:
            if id not in pending:
                yield _Certain()
                continue
            tree = self._index.pending_tree(id)
            for predicate, key in calls_in(tree, self._event):
                self.predicates.setdefault(key, {})[predicate] = None
            candidate = Pending(tree, self._event, self.results, self._rate)
            if self._recall(candidate):
                candidate = Pending(tree, self._event, self.results, self._rate)
            yield candidate

    def _recall(self, candidate: Pending) -> bool:
        """Look up what a candidate needs among the known results; whether there is any."""
        verdict = candidate.verdict()
        found = False
        for call in () if isinstance(verdict, bool) else verdict:
            if self._known is not None:
                result = self._known(call)
                if result is not MISSING:
                    self.results[call] = result  # type: ignore[assignment]
                    found = True
        return found
