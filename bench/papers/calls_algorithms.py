"""How many predicates each algorithm evaluates to match one event: the paper's three, and ours.

Naive takes subscriptions as they come and stops at the first predicate that fails; it remembers
results. Sequential evaluates all predicates of an undecided subscription that another undecided one
still needs, and drops every subscription that a result decides. Sub-Order sorts the predicates of
each subscription by pass rate, and the subscriptions by what they save: a shared predicate at some
place is reached with probability P at cost C, and of two subscriptions the one with the higher
P / C goes first. The paper orders all pairs, which is quadratic; here each subscription has the sum
of (1 − p) · P / C over its shared predicates, weighted by how many share them.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from bench.papers.calls_workload import Workload
from index.costly.order import Order

Event = Sequence[bool]
Algorithm = Callable[[Workload, Event, Random], int]


def naive(workload: Workload, event: Event, rng: Random) -> int:
    """One subscription after the other, with a cache."""
    known: set[int] = set()
    for subscription in workload.subscriptions:
        for predicate in subscription:
            known.add(predicate)
            if not event[predicate]:
                break
    return len(known)


def sequential(workload: Workload, event: Event, rng: Random) -> int:
    """Algorithm 1 of the paper."""
    subscriptions = workload.subscriptions
    needs = _users(subscriptions)
    left = [len(subscription) for subscription in subscriptions]
    undecided = [True] * len(subscriptions)
    known: set[int] = set()
    order = list(range(len(subscriptions)))
    rng.shuffle(order)
    for chosen in order:
        if not undecided[chosen]:
            continue
        for predicate in subscriptions[chosen]:
            users = needs[predicate]
            if predicate in known or not any(undecided[user] for user in users):
                continue
            known.add(predicate)
            for user in users:
                left[user] -= 1
                if not event[predicate] or not left[user]:
                    undecided[user] = False
    return len(known)


def sub_order(workload: Workload, event: Event, rng: Random) -> int:
    """Section 4.2 of the paper."""
    rates = workload.rates
    needs = _users(workload.subscriptions)
    chains = [sorted(each, key=rates.__getitem__) for each in workload.subscriptions]

    def saving(chain: Sequence[int]) -> float:
        reached, cost, saved = 1.0, 0.0, 0.0
        for predicate in chain:
            # The cost of the nodes above; the first is reached for nothing.
            others = len(needs[predicate]) - 1
            saved += others * (1 - rates[predicate]) * reached / max(cost, 1.0)
            cost += reached
            reached *= rates[predicate]
        return saved

    known: dict[int, bool] = {}
    for chain in sorted(chains, key=saving, reverse=True):
        if any(known.get(predicate) is False for predicate in chain):
            continue
        for predicate in chain:
            if not known.setdefault(predicate, event[predicate]):
                break
    return len(known)


def fewest(limit: int | None = None) -> Algorithm:
    """A lower bound of any order, even one that knew the results before: to be sure of a match, all
    its predicates are evaluated; and to refute subscriptions that share no predicate that fails,
    one of each. With a limit, this is so down to the last match of the answer."""

    def counted(workload: Workload, event: Event, rng: Random) -> int:
        passed: set[int] = set()
        refuted: list[list[int]] = []
        matches = 0
        for subscription in workload.subscriptions:
            failing = [each for each in subscription if not event[each]]
            if failing:
                refuted.append(failing)
                continue
            passed.update(subscription)
            matches += 1
            if matches == limit:
                break
        needs = _users(refuted)
        taken: set[int] = set()
        apart = 0
        # Those that share with few others first: then more of them are apart.
        for failing in sorted(refuted, key=lambda each: sum(len(needs[one]) for one in each)):
            if taken.isdisjoint(failing):
                taken.update(failing)
                apart += 1
        return len(passed) + apart

    return counted


def ours(limit: int | None = None) -> Algorithm:
    """The order of `index/costly/order.py`; with a limit, for the best subscriptions alone."""

    def evaluated(workload: Workload, event: Event, rng: Random) -> int:
        against = [1 - rate for rate in workload.rates]
        candidates = [_Conjunction(each, against) for each in workload.subscriptions]
        order: Order[int] = Order(candidates, limit=limit)
        made = 0
        while (predicate := order.next()) is not None:
            made += 1
            order.learn(predicate, event[predicate])
        return made

    return evaluated


class _Conjunction:
    """A subscription, as a candidate."""

    def __init__(self, predicates: Sequence[int], against: Sequence[float]) -> None:
        self._needs: Mapping[int, float] = {each: against[each] for each in predicates}

    def verdict(self) -> bool | Mapping[int, float]:
        return self._needs

    def learn(self, call: int, result: object) -> bool | Mapping[int, float]:
        if not result:
            return False
        self._needs = {each: chance for each, chance in self._needs.items() if each != call}
        return self._needs or True


def _users(subscriptions: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for number, subscription in enumerate(subscriptions):
        for predicate in subscription:
            users.setdefault(predicate, []).append(number)
    return users
