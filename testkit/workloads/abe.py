"""ABE-Gen: arbitrary expressions, as section 10.4.1 of the thesis generates them.

From the root down, each node draws its operator; `and` and `or` have `children` children, `not`
has one, `xor` and `xnor` two; the leaves at the full depth are predicates. A depth of 1 is a single
predicate.

The thesis leaves three things open. Predicates are BE-Gen's (all nine operators, 20% equalities).
`alpha` skews the attributes of the predicates, as the text says, and not those of the events:
`event_alpha` does that. With `repeat`, each expression is repeated that many times.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from index.language import Attribute, Schema
from testkit.workloads.draw import distinct_ranks, ranks
from testkit.workloads.predicates import OPERATORS, RANGE_SHARE, SET_VALUES, name
from testkit.workloads.workload import Event, Workload

_BLOCK = 1000
"""Number of expressions between two repetitions."""


@dataclass(frozen=True, kw_only=True)
class Abe(Workload):
    """The defaults are those of table 10.4.1."""

    operators: tuple[float, float, float, float, float] = (0.40, 0.40, 0.10, 0.05, 0.05)
    """The shares of `and`, `or`, `not`, `xor` and `xnor`."""
    depth: int = 3
    children: int = 4
    repeat: int = 0
    alpha: float = 0.0
    dimensions: int = 1000
    cardinality: int = 100
    event_size: int = 20
    event_alpha: float = 0.0
    equality: float = 0.2
    operator_class: str = "high"

    @property
    def schema(self) -> Schema:
        """All attributes are integers."""
        return Schema(Attribute(name(d), "int") for d in range(self.dimensions))

    def expressions(self) -> Iterator[str]:
        """Each expression is new, or repeated in blocks."""
        node = self._node(Random(f"abe {self.seed}"))
        while True:
            block = [f"[1,{node(1)}]" for _ in range(_BLOCK)]
            for _ in range(1 + self.repeat):
                yield from block

    def events(self, count: int) -> list[Event]:
        """Random attributes with random values."""
        rng = Random(f"abe events {self.seed}")
        return [
            {
                name(d): int(rng.random() * self.cardinality)
                for d in distinct_ranks(rng, self.dimensions, self.event_alpha, self.event_size)
            }
            for _ in range(count)
        ]

    def _node(self, rng: Random) -> Callable[[int], str]:
        """A generator of nodes at a depth."""
        random = rng.random
        predicate = self._predicate(rng)
        depth, children = self.depth, range(self.children)
        and_, or_, not_, xor, _ = (sum(self.operators[: i + 1]) for i in range(5))

        def node(level: int) -> str:
            if level >= depth:
                return predicate()
            level += 1
            below = predicate if level >= depth else None
            drawn = random()
            if drawn < or_:
                word = "and" if drawn < and_ else "or"
                if below:
                    return f'["{word}",{",".join([below() for _ in children])}]'
                return f'["{word}",{",".join([node(level) for _ in children])}]'
            if drawn < not_:
                return f'["not",{node(level)}]'
            letter = "x" if drawn < xor else "n"
            return f'["xor","{letter}",{node(level)},{node(level)}]'

        return node

    def _predicate(self, rng: Random) -> Callable[[], str]:
        """A generator of predicates with operands from the whole domain. All texts except for sets
        and ranges are prepared in advance."""
        random = rng.random
        dimension = ranks(rng, self.dimensions, self.alpha)
        cardinality = self.cardinality
        words = OPERATORS[self.operator_class]
        heads = [[f'["{op}","{name(d)}",' for d in range(self.dimensions)] for op in words]
        tails = [f"{value}]" for value in range(cardinality)]
        equality = 1.0 if len(words) == 1 else self.equality
        scale = (len(words) - 1) / (1.0 - equality) if equality < 1.0 else 0.0
        between, sets = words.index("between") if "between" in words else -1, ("in", "not in")
        plain = [op != "between" and op not in sets for op in words]

        def predicate() -> str:
            drawn = random() - equality
            op = 0 if drawn < 0.0 else 1 + int(drawn * scale)
            head = heads[op][dimension()]
            value = int(random() * cardinality)
            if plain[op]:
                return head + tails[value]
            if op == between:
                high = int(value + random() * 2 * RANGE_SHARE * cardinality)
                return f"{head}{value},{tails[high] if high < cardinality else tails[-1]}"
            values = {int(random() * cardinality) for _ in range(int(random() * SET_VALUES))}
            values.discard(value)
            return f"{head}{''.join([f'{v},' for v in values])}{tails[value]}"

        return predicate
