"""TAMA's workload (its table I): ranges of one width over doubles between 0 and 1.

`power` skews the values of events and the ranges toward 0: a power law, as in its section V.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from index.language import Attribute, Schema
from testkit.workloads.predicates import name
from testkit.workloads.workload import Event, Workload


@dataclass(frozen=True, kw_only=True)
class Ranges(Workload):
    """The defaults are those of its figure 8, so that something matches."""

    dimensions: int = 1000
    constraints: int = 2
    width: float = 0.1
    event_size: int = 100
    power: int = 1

    @property
    def schema(self) -> Schema:
        """All attributes are doubles."""
        return Schema(Attribute(name(d), "float") for d in range(self.dimensions))

    def expressions(self) -> Iterator[str]:
        """Conjunctions of ranges on different attributes."""
        rng = Random(f"ranges {self.seed}")
        while True:
            parts = []
            for dimension in rng.sample(range(self.dimensions), self.constraints):
                low = round(rng.random() ** self.power * (1 - self.width), 6)
                bounds = f"{low},{round(low + self.width, 6)}"
                parts.append(f'["between","{name(dimension)}",{bounds}]')
            yield f"[1,{parts[0]}]" if len(parts) == 1 else f'[1,["and",{",".join(parts)}]]'

    def events(self, count: int) -> list[Event]:
        """Random attributes with random values."""
        rng = Random(f"ranges events {self.seed}")
        return [
            {
                name(d): rng.random() ** self.power
                for d in rng.sample(range(self.dimensions), self.event_size)
            }
            for _ in range(count)
        ]
