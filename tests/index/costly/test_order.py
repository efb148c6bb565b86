"""The order of calls: right answers, and never more than d times the cost of the cheapest way."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from index.costly.order import Order

Results = Sequence[bool]
Clauses = Sequence[Sequence[frozenset[int]]]


class Formula:
    """A disjunction of conjunctions of calls, decided by brute force over their results."""

    def __init__(self, clauses: Sequence[frozenset[int]]) -> None:
        self.clauses = clauses
        self.known: dict[int, bool] = {}

    def verdict(self) -> bool | Mapping[int, float]:
        open_ = [c for c in self.clauses if not any(self.known.get(x) is False for x in c)]
        left = [frozenset(x for x in c if x not in self.known) for c in open_]
        if not left:
            return False
        if frozenset() in left:
            return True
        return dict.fromkeys(sorted(frozenset.union(*left)), 0.5)

    def learn(self, call: int, result: object) -> bool | Mapping[int, float]:
        self.known[call] = bool(result)
        return self.verdict()

    def holds(self, results: Results) -> bool:
        return any(all(results[x] for x in clause) for clause in self.clauses)


CALLS = 5
CLAUSES = st.lists(st.frozensets(st.integers(0, CALLS - 1), min_size=1), min_size=1, max_size=2)
CANDIDATES = st.lists(CLAUSES, min_size=1, max_size=6)
RESULTS = st.lists(st.booleans(), min_size=CALLS, max_size=CALLS)
COSTS = st.lists(st.integers(1, 50), min_size=CALLS, max_size=CALLS)
LIMITS = st.none() | st.integers(1, 4)


def settle(
    order: Order[int], results: Results, costs: Sequence[int] = (1,) * CALLS
) -> tuple[list[int], int]:
    made: list[int] = []
    while (call := order.next()) is not None:
        made.append(call)
        order.learn(call, results[call])
    assert len(made) == len(set(made)), "a call is made once"
    return made, sum(costs[call] for call in made)


def expected(candidates: Clauses, results: Results, limit: int | None) -> list[int]:
    places = [n for n, each in enumerate(candidates) if Formula(each).holds(results)]
    return places if limit is None else places[:limit]


@given(CANDIDATES, RESULTS, COSTS, LIMITS)
def test_the_answer_is_that_of_evaluating_everything(
    candidates: Clauses, results: Results, costs: Sequence[int], limit: int | None
) -> None:
    order = Order(map(Formula, candidates), lambda call: float(costs[call]), limit)
    settle(order, results)
    assert order.matching == expected(candidates, results, limit)
    assert order.undecided == []


@given(CANDIDATES, RESULTS, COSTS, LIMITS)
def test_no_more_than_d_times_the_cheapest_way_is_spent(
    candidates: Clauses, results: Results, costs: Sequence[int], limit: int | None
) -> None:
    order = Order(map(Formula, candidates), lambda call: float(costs[call]), limit)
    _, spent = settle(order, results, costs)
    cheapest = min(
        sum(costs[call] for call in made)
        for size in product((False, True), repeat=CALLS)
        if proves(candidates, made := [n for n, each in enumerate(size) if each], results, limit)
    )
    most = max(len(frozenset().union(*each)) for each in candidates)
    assert spent <= most * cheapest


def proves(candidates: Clauses, made: Sequence[int], results: Results, limit: int | None) -> bool:
    """Whether these results leave only one answer possible."""

    @cache
    def answer(rest: tuple[bool, ...]) -> tuple[int, ...]:
        return tuple(expected(candidates, rest, limit))

    free = [range(2) if n not in made else (results[n],) for n in range(CALLS)]
    return len({answer(tuple(map(bool, each))) for each in product(*free)}) == 1


@given(CANDIDATES, RESULTS, st.integers(1, 4), st.integers(0, 6))
def test_candidates_may_come_later(
    candidates: Clauses, results: Results, limit: int, first: int
) -> None:
    order: Order[int] = Order(map(Formula, candidates[:first]), limit=limit)
    settle(order, results)
    if order.is_short:
        order.add(map(Formula, candidates[first:]))
        while (call := order.next()) is not None:
            order.learn(call, results[call])
    assert order.matching == expected(candidates, results, limit)


def test_the_call_that_refutes_the_most_for_its_cost_comes_first() -> None:
    candidates = [[frozenset({0, 4})], [frozenset({1, 4})], [frozenset({2, 4})]]
    made, _ = settle(Order(map(Formula, candidates)), [True] * 4 + [False])
    assert made == [4]


def test_a_limit_decides_no_more_than_it_must() -> None:
    candidates = [[frozenset({n})] for n in range(5)]
    made, _ = settle(Order(map(Formula, candidates), limit=2), [True] * 5)
    assert made == [0, 1]
