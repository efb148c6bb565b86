"""The workload of the paper on expensive operators (section 5.2), from a seed.

Predicates have a popularity, uniform or by Zipf's law, and a pass rate; a subscription is a
conjunction of 3 to 5 of them. The paper says that an event matches 0.2 % of the subscriptions and
not how pass rates are distributed: ours are powers of a uniform number, with the exponent that
gives this share. Popularity by Zipf's law is by rank. Its naive evaluates more predicates than
these subscriptions have (`docs/operators.md`), so one of both is not what the paper did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

SHORTEST, LONGEST = 3, 5
SHARE = 0.002


@dataclass(frozen=True, slots=True)
class Workload:
    """Conjunctions of predicates, and for each predicate how often it passes."""

    subscriptions: list[tuple[int, ...]]
    rates: list[float]

    def event(self, rng: Random) -> list[bool]:
        """The result of each predicate."""
        return [rng.random() < rate for rate in self.rates]


def workload(
    subscriptions: int, predicates: int, zipf: float | None, seed: int = 1, share: float = SHARE
) -> Workload:
    """With `zipf`, the exponent of its law; without, popularities are uniform. An event matches
    about `share` of the subscriptions."""
    rng = Random(f"calls {subscriptions} {predicates} {zipf} {seed}")
    if zipf is None:
        weights = [rng.random() for _ in range(predicates)]
    else:
        weights = [1 / rank**zipf for rank in range(1, predicates + 1)]
    sums = list(accumulate(weights))
    numbers = range(predicates)
    drawn = []
    for _ in range(subscriptions):
        length = rng.randint(SHORTEST, LONGEST)
        chosen: set[int] = set()
        while len(chosen) < length:
            chosen.update(rng.choices(numbers, cum_weights=sums, k=length - len(chosen)))
        drawn.append(tuple(rng.sample(sorted(chosen), length)))
    uniform = [rng.random() for _ in numbers]
    return Workload(drawn, _rates(drawn, uniform, share))


def _rates(
    subscriptions: Sequence[tuple[int, ...]], uniform: list[float], share: float
) -> list[float]:
    """Powers of the uniform numbers; the more, the fewer subscriptions match."""
    low, high = 0.0, 64.0
    for _ in range(24):
        exponent = (low + high) / 2
        rates = [number**exponent for number in uniform]
        matching = 0.0
        for subscription in subscriptions:
            chance = 1.0
            for predicate in subscription:
                chance *= rates[predicate]
            matching += chance
        if matching > share * len(subscriptions):
            low = exponent
        else:
            high = exponent
    return [number**high for number in uniform]
