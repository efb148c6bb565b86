"""Events to simulate: when they are published, where, and which brokers want them."""

from collections.abc import Callable
from random import Random

from bench.routing.simulation import Publication

Draw = Callable[[], tuple[int, frozenset[int]]]
"""A source, and the brokers that want its event."""


def publications(rng: Random, events: int, per_second: float, draw: Draw) -> list[Publication]:
    """Events at random times (Poisson)."""
    now = 0.0
    found = []
    for _ in range(events):
        now += rng.expovariate(per_second) * 1000
        source, wanted = draw()
        found.append(Publication(now, source, wanted))
    return found


def anywhere(rng: Random, brokers: int, wanted: int) -> Draw:
    """A random source, and so many random brokers."""
    return lambda: (rng.randrange(brokers), frozenset(rng.sample(range(brokers), wanted)))
