"""In which order to make calls, until the best candidates are decided at the least cost.

Candidates come best first, and each needs the results of some calls; calls are shared. The answer
is the first `limit` candidates that match. So the first `limit` candidates that are not refuted
are the *window*: whatever else happens, nobody knows the answer before they are decided.

Which call is next? The one that refutes the most candidates for its cost, as far as is known. A
candidate that other calls can refute as well counts for less: it is divided among its calls by
their chances. But greed alone has no bound, so calls are paid for by *local ratio*: an undecided
candidate of the window pays for all calls it needs, the same amount for each, until one of them is
paid in full. What was paid for calls that turn out not to be needed pays for others.

    needs a (costs 3) and b (costs 5)   pays 3 for each   a can be made, or b if 2 are left over

Any way to the answer makes one of the calls that such a candidate needs, so what the candidates pay
*once* is at most the cost of the cheapest way. With at most d calls in a candidate they pay d times
that at most, and no more is spent. This holds for unequal costs, for any expression, and with a
limit; Sequential (Liu, Parthasarathy, Ranganathan, Yang: Scalable Event Matching for Overlapping
Subscriptions in Pub/Sub Systems) has the bound for equal costs and conjunctions.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from heapq import heappop, heappush
from itertools import islice
from typing import Generic, Protocol, TypeVar

Call = TypeVar("Call", bound=Hashable)

Verdict = bool | Mapping[Call, float]
"""Whether a candidate matches; while that is open, the calls that can still change it, each with
the chance that its result speaks against the candidate."""


class Candidate(Protocol[Call]):
    """Something that calls decide."""

    def verdict(self) -> Verdict[Call]:
        """What is known of it."""

    def learn(self, call: Call, result: object) -> Verdict[Call]:
        """What is known of it with one more result."""


_ROUNDING = 1e-9
"""Costs below this are rounding errors."""

_PAYERS = 32
"""The most candidates that are asked to pay for one call."""


class Order(Generic[Call]):
    """The calls to make for some candidates, one after the other, or several at once."""

    def __init__(
        self,
        candidates: Iterable[Candidate[Call]] = (),
        cost: Callable[[Call], float] = lambda _: 1.0,
        limit: int | None = None,
    ) -> None:
        self._candidates: list[Candidate[Call]] = []
        self._verdicts: list[Verdict[Call]] = []
        self._cost = cost
        self._limit = limit
        self._entered = 0
        """How many candidates have been in the window;"""
        self._alive = 0
        """and how many of them are not refuted."""
        self._users: dict[Call, dict[int, float]] = {}
        """The undecided candidates that need a call, each with the call's share of it."""
        self._weights: dict[Call, float] = {}
        """The sum of these shares: how many candidates a call should refute."""
        self._heap: list[tuple[float, int, Call]] = []
        """The calls that the window needs, and some that it needed, by weight for their cost.
        Weights may have fallen since."""
        self._pushed = 0
        self._residual: dict[Call, float] = {}
        """What candidates can still pay for a call."""
        self._paid: dict[Call, float] = {}
        """What they have paid for calls that were not made yet."""
        self._credit = 0.0
        """What they have paid for calls that nobody needs any more, less what was made of it."""
        self._most = 0
        """The most calls that a candidate needs. One with fewer pays the rest as credit."""
        self.add(candidates)

    def add(self, candidates: Iterable[Candidate[Call]]) -> None:
        """Add candidates, worse than all before."""
        for candidate in candidates:
            place = len(self._candidates)
            self._candidates.append(candidate)
            self._verdicts.append(False)
            verdict = candidate.verdict()
            if not isinstance(verdict, bool):
                self._most = max(self._most, len(verdict))
            self._decide(place, verdict)
        self._fill()

    @property
    def matching(self) -> list[int]:
        """The positions of candidates that match for certain, best first, at most `limit`."""
        return [place for place in range(self._entered) if self._verdicts[place] is True]

    @property
    def undecided(self) -> list[int]:
        """The positions of candidates of the window that need more results."""
        places = range(self._entered)
        return [place for place in places if not isinstance(self._verdicts[place], bool)]

    @property
    def is_short(self) -> bool:
        """Whether the candidates so far may be too few: the window has room for more."""
        return self._limit is None or self._alive < self._limit

    def wanted(self) -> list[Call]:
        """All calls that the window needs, each once."""
        needs = (self._verdicts[place] for place in self.undecided)
        return list({call: None for each in needs if not isinstance(each, bool) for call in each})

    def next(self) -> Call | None:
        """The next call to make; None if all of the window is decided."""
        best = self._best()
        if best is None:
            return None
        payers = self._payers(best)
        for needed in payers:
            if self._can_afford(best):
                break
            self._pay(needed)
        chosen = best
        if not self._can_afford(best):
            # None of these can pay more, because each needs a call that is paid for.
            paid = {call: None for needed in payers for call in needed if self._is_paid(call)}
            chosen = max(paid, key=self._value)
        self._credit += self._paid.pop(chosen, 0.0) - self._cost(chosen)
        return chosen

    def learn(self, call: Call, result: object) -> None:
        """Take the result of a call."""
        for place in list(self._users.get(call, ())):
            self._decide(place, self._candidates[place].learn(call, result))
            if place < self._entered and self._verdicts[place] is False:
                self._alive -= 1
        self._fill()

    def _fill(self) -> None:
        """Let candidates into the window while it has room."""
        entering: dict[Call, None] = {}
        while self.is_short and self._entered < len(self._candidates):
            verdict = self._verdicts[self._entered]
            self._entered += 1
            if verdict is not False:
                self._alive += 1
            if not isinstance(verdict, bool):
                entering.update(dict.fromkeys(verdict))
        for call in entering:
            self._push(call)

    def _decide(self, place: int, after: Verdict[Call]) -> None:
        """Correct users and weights where the needs of a candidate change."""
        before = self._verdicts[place]
        self._verdicts[place] = after
        old = {} if isinstance(before, bool) else before
        new = {} if isinstance(after, bool) else after
        for call in old:
            if call not in new:
                users = self._users[call]
                self._weights[call] -= users.pop(place)
                if not users:
                    del self._users[call], self._weights[call]
                    self._credit += self._paid.pop(call, 0.0)
        total = sum(new.values()) or 1.0
        for call, chance in new.items():
            users = self._users.setdefault(call, {})
            change = chance / total - users.get(place, 0.0)
            users[place] = chance / total
            self._weights[call] = self._weights.get(call, 0.0) + change
            if change > 0 and call in old:
                self._push(call)

    # Which call is best.

    def _value(self, call: Call) -> float:
        return self._weights[call] / max(self._cost(call), _ROUNDING)

    def _push(self, call: Call) -> None:
        self._pushed += 1
        heappush(self._heap, (-self._value(call), self._pushed, call))

    def _best(self) -> Call | None:
        """The call of the window with the highest weight for its cost."""
        while self._heap:
            value, _, call = self._heap[0]
            is_wanted = any(place < self._entered for place in self._users.get(call, ()))
            if is_wanted and -self._value(call) <= value * (1 - 1e-9):
                return call
            heappop(self._heap)
            if is_wanted:
                self._push(call)
        return None

    # Who pays for it.

    def _can_afford(self, call: Call) -> bool:
        return self._credit + self._paid.get(call, 0.0) >= self._cost(call) - _ROUNDING

    def _is_paid(self, call: Call) -> bool:
        return self._residual.get(call, 1.0) <= _ROUNDING

    def _payers(self, call: Call) -> list[Mapping[Call, float]]:
        """What candidates of the window need that need a call: first those whose other calls few
        need, since a call that is paid for comes before better ones if nothing is left over."""
        places = islice((p for p in self._users[call] if p < self._entered), _PAYERS)
        verdicts = (self._verdicts[place] for place in places)
        payers = [needed for needed in verdicts if not isinstance(needed, bool)]
        return sorted(payers, key=lambda needed: sum(len(self._users[each]) for each in needed))

    def _pay(self, needed: Mapping[Call, float]) -> None:
        """Let an undecided candidate pay for all calls it needs."""
        residual = self._residual
        for call in needed:
            if call not in residual:
                residual[call] = self._cost(call)
        least = min(residual[call] for call in needed)
        for call in needed:
            residual[call] -= least
            self._paid[call] = self._paid.get(call, 0.0) + least
        self._credit += least * (self._most - len(needed))
