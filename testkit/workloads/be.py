"""BE-Gen: conjunctions, with a chosen share of them matching each event.

Table 10.3.1 of the thesis and table III of the BE-Tree paper, whose section 8.2.1 says how:
a *base* is an event with some attributes and values. An expression is derived from a base: it keeps
some of the attributes and turns the equality into an operator that still holds. So an expression
matches its base, and with `1 / matching` bases each event matches that share of the expressions,
plus a few of other bases by chance.

One thing differs from the paper, which keeps each attribute with some probability. That leaves a
few expressions with one or two predicates, and with 100 attributes those alone match 0.5% of all
events. Here the size differs from the mean by at most two, so that the matching probability is as
requested (0.14% instead of 0.1% with 100 attributes).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from index.language import Attribute, Schema
from testkit.workloads.draw import distinct_ranks
from testkit.workloads.predicates import RANGE_SHARE, around, name, operators
from testkit.workloads.workload import Event, Workload

_AROUND = 2
"""Largest deviation of a size from the mean."""


@dataclass(frozen=True, kw_only=True)
class Be(Workload):
    """The defaults are the thesis's; its two settings of `dimensions` are 100 and 30,000."""

    dimensions: int = 100
    cardinality: int = 100
    alpha: float = 0.0
    size: int = 5
    event_size: int = 30
    matching: float = 0.001
    equality: float = 0.2
    operator_class: str = "medium"
    range_share: float = RANGE_SHARE
    """How wide a `between` is on average, as a share of the values."""

    @property
    def schema(self) -> Schema:
        """All attributes are integers."""
        return Schema(Attribute(name(d), "int") for d in range(self.dimensions))

    def expressions(self) -> Iterator[str]:
        """Each expression is derived from a random base."""
        rng = Random(f"be {self.seed}")
        random = rng.random
        bases = self._bases()
        operator = operators(rng, self.operator_class, self.equality)
        cardinality = self.cardinality
        lowest = max(1, self.size - _AROUND)
        sizes = range(lowest, 2 * self.size - lowest + 1)
        while True:
            base = bases[int(random() * len(bases))]
            kept = _some(rng, base, sizes[int(random() * len(sizes))])
            share = self.range_share
            written = [around(rng, operator(), d, value, cardinality, share) for d, value in kept]
            if len(written) == 1:
                yield f"[1,{written[0]}]"
            else:
                yield f'[1,["and",{",".join(written)}]]'

    def events(self, count: int) -> list[Event]:
        """The bases, starting over after the last."""
        bases = self._bases()
        return [
            {name(d): value for d, value in bases[place % len(bases)]} for place in range(count)
        ]

    def _bases(self) -> list[list[tuple[int, int]]]:
        rng = Random(f"be bases {self.seed}")
        return [
            [
                (d, int(rng.random() * self.cardinality))
                for d in distinct_ranks(rng, self.dimensions, self.alpha, self.event_size)
            ]
            for _ in range(max(1, round(1 / self.matching)))
        ]


def _some(rng: Random, pairs: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """`count` different pairs, or all; a faster `Random.sample`."""
    if count >= len(pairs):
        return pairs
    random, size = rng.random, len(pairs)
    kept: dict[int, None] = {}
    while len(kept) < count:
        kept[int(random() * size)] = None
    return [pairs[place] for place in kept]
