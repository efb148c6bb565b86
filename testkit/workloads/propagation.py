"""The workloads of the Propagation paper (table 1 and section 6).

Every event has all 32 attributes; a subscription has some predicates on fixed attributes and one or
more on free ones, all with values from 1 to `values`.

    W0   5 equalities, 2 of them on fixed attributes
    W1   2 fixed equalities, 1 fixed >, 1 free equality
    W2   2 fixed equalities, 5 fixed <, 1 fixed >, 1 free equality

`first` moves all attributes of the subscriptions, and `skewed` gives the first fixed attribute only
two values in subscriptions and events: the two drifts of section 6.2.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from index.language import Attribute, Schema
from testkit.workloads.predicates import name
from testkit.workloads.workload import Event, Workload

_ATTRIBUTES = 32


@dataclass(frozen=True, kw_only=True)
class Fixed(Workload):
    """The defaults are W0."""

    fixed: int = 2
    free: int = 3
    above: int = 0
    below: int = 0
    values: int = 35
    attributes: int = _ATTRIBUTES
    """How many attributes subscriptions are about."""
    first: int = 0
    """The first of them."""
    skewed: bool = False

    @property
    def schema(self) -> Schema:
        """All attributes are integers."""
        return Schema(Attribute(name(d), "int") for d in range(_ATTRIBUTES))

    def expressions(self) -> Iterator[str]:
        """Conjunctions; the attributes of comparisons follow the fixed ones."""
        rng = Random(f"fixed {self.seed}")
        compared = self.fixed + self.above + self.below
        operators = ["="] * self.fixed + [">"] * self.above + ["<"] * self.below
        others = range(compared, self.attributes)
        while True:
            chosen = [*range(compared), *rng.sample(others, self.free)]
            words = [*operators, *["="] * self.free]
            predicates = [
                f'["{word}","{name(self.first + d)}",{self._value(rng, d)}]'
                for word, d in zip(words, chosen, strict=True)
            ]
            yield f'[1,["and",{",".join(predicates)}]]'

    def events(self, count: int) -> list[Event]:
        """A value for each of the 32 attributes."""
        rng = Random(f"fixed events {self.seed}")
        return [
            {name(d): self._value(rng, d - self.first) for d in range(_ATTRIBUTES)}
            for _ in range(count)
        ]

    def _value(self, rng: Random, dimension: int) -> int:
        values = 2 if self.skewed and dimension == 0 else self.values
        return 1 + int(rng.random() * values)
