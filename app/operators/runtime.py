"""The operators of a worker, and how a request gets the results that decide its candidates.

    candidates ──▶ Settlement ──calls of one operator──▶ Calling ──▶ results ──▶ Settlement ──▶ …

Everything here runs in the event loop, between awaits: no lock is held while a call is made, and
each worker learns by itself. A request has its own budget for each operator, and its own deadline.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from app.observability.metrics.registry import Registry
from app.operators.operator import Calling
from campaigns.feed.view import View
from campaigns.operators.model import OperatorRecord
from index import Matches, Query
from index.backends.backend import Attributes
from index.costly.formula import CallKey, calls_in
from index.costly.settlement import MISSING, Settlement
from index.event import check_event
from index.language import Constant, Predicate, TreeError, calls_of, from_json
from index.language.tree import Tree
from index.language.types import Scalar
from index.matches import PythonMatches

T = TypeVar("T")

MOST_CANDIDATES = 1000
"""The most candidates of a request that are looked at in Python."""

MARGIN = 0.1
"""The share of the time left that is kept for the answer itself."""

EXPLAIN_SECONDS = 2.0
"""How long an explanation waits for operators."""

MENTION = '"call '
"""What the JSON form of a tree with calls has in it, and perhaps others."""

THREADS = 4
DEFAULT_COST = 0.005


@dataclass(slots=True)
class Asking:
    """The calls of one request: their results, and what is left of the time."""

    runtime: "Operators"
    view: View
    deadline: float
    """`perf_counter`."""
    results: dict[CallKey, Scalar | None] = field(default_factory=dict)
    failures: dict[CallKey, str] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    wanted: list[CallKey] = field(default_factory=list)
    was_cut: bool = False

    @property
    def is_degraded(self) -> bool:
        """Whether something was not decided."""
        return self.was_cut or any(result is None for result in self.results.values())

    def known(self, call: CallKey) -> object:
        """The result of a call that was made for this request or an earlier one, or `MISSING`."""
        if call not in self.results:
            operator = self.runtime.find(call.operator, self.view)
            found = MISSING if operator is None else operator.known(call.values)
            if found is MISSING:
                return MISSING
            self.results[call] = found  # type: ignore[assignment]
        return self.results[call]

    def ask(self, event: Attributes, query: Query) -> Matches:
        """What matches by the results so far. If calls are `wanted`, they have to be made first:
        then it is nothing yet."""
        found = self.view.index.candidates(event, query)
        if not found.pending:
            return found
        settlement = self._settlement(event, query)
        if calls := settlement.wanted():
            self.wanted += [call for call in calls if call not in self.wanted]
            return PythonMatches([], [], None)
        self.was_cut |= settlement.was_cut
        return settlement.matches()

    def answered(self, text: str, attributes: dict[str, object]) -> list[dict[str, object]]:
        """What each call of a stored tree answered: its result, or why there is none."""
        tree = _read(text, self.view)
        event, _ = check_event(attributes, self.view.index.schema)
        keys = {predicate.attribute: key for predicate, key in calls_in(tree, event)}
        return [
            {
                "call": name,
                "result": self.results.get(keys[name]) if name in keys else None,
                "failure": self.failures.get(keys[name]) if name in keys else "argument",
            }
            for name in calls_of(tree)
        ]

    async def settle(self, event: Attributes, query: Query) -> Matches:
        """What matches, with all calls that are needed and that time permits."""
        settlement = self._settlement(event, query)
        while calls := settlement.wanted():
            made = await self.make(calls)
            settlement.learn(made)
            self._observe(settlement, made)
        self.was_cut |= settlement.was_cut
        return settlement.matches()

    async def make(self, calls: Sequence[CallKey]) -> dict[CallKey, Scalar | None]:
        """The results of calls of one operator, in order of their use."""
        operator = self.runtime.find(calls[0].operator, self.view)
        left = self.deadline - perf_counter()
        if operator is None:
            made: dict[CallKey, Scalar | None] = dict.fromkeys(calls)
            failure = "operator"
        else:
            budget = operator.record.budget_ms / 1000 - self.spent.get(calls[0].operator, 0.0)
            left = min(left, budget)
            if left <= 0:
                operator.skipped(len(calls))
                made, failure = dict.fromkeys(calls), "budget"
            else:
                started = perf_counter()
                made, failure = await operator.call(calls, left)
                spent = perf_counter() - started
                self.spent[calls[0].operator] = self.spent.get(calls[0].operator, 0.0) + spent
        self.results |= made
        self.failures |= {call: failure for call, result in made.items() if result is None}
        return made

    async def make_wanted(self) -> None:
        """Make all calls that `ask` wanted."""
        wanted, self.wanted = self.wanted, []
        for name in dict.fromkeys(call.operator for call in wanted):
            await self.make([call for call in wanted if call.operator == name])

    def _observe(self, settlement: Settlement, made: dict[CallKey, Scalar | None]) -> None:
        """Learn how often predicates are true."""
        for call, result in made.items():
            operator = self.runtime.find(call.operator, self.view)
            if result is not None and operator is not None:
                for predicate in settlement.predicates.get(call, ()):
                    operator.observe(predicate, result)

    def _settlement(self, event: Attributes, query: Query) -> Settlement:
        return Settlement(
            self.view.index,
            event,
            query,
            self.known,
            self.runtime.cost,
            self.runtime.rate,
            MOST_CANDIDATES,
        )


class Operators:
    """The operators of a worker."""

    def __init__(self, registry: Registry, hosts: Iterable[str] = ()) -> None:
        self._registry = registry
        self._hosts = frozenset(hosts)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="operator")
        self._calling: dict[str, Calling] = {}

    def asking(self, view: View, seconds: float) -> Asking:
        """For one request that must be answered within the seconds."""
        return Asking(self, view, perf_counter() + seconds * (1 - MARGIN))

    def find(self, name: str, view: View) -> Calling | None:
        """An operator as it is registered now; with new settings it starts anew."""
        record: OperatorRecord | None = view.operators.get(name)
        known = self._calling.get(name)
        if record is None:
            return None
        if known is None or known.record != record:
            if known is not None:
                known.close()
            known = Calling(record, self._registry, self._threads, self._hosts)
            self._calling[name] = known
        return known

    def cost(self, operator: str) -> float:
        """The seconds of a call."""
        known = self._calling.get(operator)
        return DEFAULT_COST if known is None else known.cost

    def rate(self, operator: str, predicate: Predicate) -> float:
        """How often a predicate is true."""
        known = self._calling.get(operator)
        return 0.5 if known is None else known.rate(predicate)

    async def all_calls(self, text: str, events: Iterable[dict[str, object]], view: View) -> Asking:
        """Make all calls of a stored tree on some events, to explain it."""
        asking, tree = self.asking(view, EXPLAIN_SECONDS), _read(text, view)
        for attributes in events:
            event, _ = check_event(attributes, view.index.schema)
            for _, call in calls_in(tree, event):
                if asking.known(call) is MISSING:
                    await asking.make([call])
        return asking

    def close(self) -> None:
        """Close connections. Functions that still run are not waited for."""
        for each in self._calling.values():
            each.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _read(text: str, view: View) -> Tree:
    """A stored tree, if it may have calls. Its operators, or its attributes, may not be in this
    worker yet."""
    with suppress(TreeError):
        if MENTION in text:
            return from_json(text, view.index.schema)
    return Constant(False)


async def repeated(asking: Asking, attempt: Callable[[], T]) -> T:
    """The result of an attempt that asks, once all calls that it wants are made."""
    while True:
        result = attempt()
        if not asking.wanted:
            return result
        await asking.make_wanted()
