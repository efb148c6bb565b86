"""Campaigns like those of an ad exchange (sections 10.3.4 and 10.4.4 of the thesis).

The thesis's data is private to a company; this workload has the same dimensions: 122 attributes, 20
per event, expressions of 1 to 56 predicates and 8 on average, strings, integers and lists, popular
values and attributes, and repetition at three levels:

* predicates come from a pool per attribute, popular ones far more often;
* so do the subexpressions (an audience, a block list, a bundle) that campaigns share;
* four in ten campaigns are copies of another one, with another creative.

The thesis counts 1,392,196 arbitrary expressions and 3M conjunctions.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from random import Random

from index.language import Attribute, Schema
from testkit.workloads.ads_attributes import ATTRIBUTES, COUNT, AdsAttribute
from testkit.workloads.draw import distinct_ranks, ranks
from testkit.workloads.workload import Event, Workload

_MEDIAN, _SPREAD, _MOST = 6.15, 0.75, 56
"""Predicates of an expression: log-normal, truncated. The mean is 8."""
_PREDICATES = 3000
"""Most predicates in the pool of an attribute."""
_SUBEXPRESSIONS = 20_000
_encode = json.JSONEncoder(separators=(",", ":")).encode
_MEMORY = 100_000
"""Number of recent expressions that can be copied."""


@dataclass(frozen=True, kw_only=True)
class Ads(Workload):
    """Arbitrary expressions, or only conjunctions."""

    conjunctive: bool = False
    event_size: int = 20
    copies: float = 0.4
    """Share of expressions that are copies."""

    @property
    def schema(self) -> Schema:
        """Strings, integers, lists, a double and two bools."""
        return Schema(Attribute(a.name, a.type) for a in ATTRIBUTES)

    def expressions(self) -> Iterator[str]:
        """New expressions, and copies of earlier ones."""
        rng = Random(f"ads {self.conjunctive} {self.seed}")
        random = rng.random
        draw = (_conjunctions if self.conjunctive else _arbitrary)(rng, self.seed)
        memory: list[str] = []
        while True:
            if memory and random() < self.copies:
                yield memory[int(random() * len(memory))]
                continue
            text = f"[1,{draw(_size(rng))}]"
            if len(memory) < _MEMORY:
                memory.append(text)
            else:
                memory[int(random() * _MEMORY)] = text
            yield text

    def events(self, count: int) -> list[Event]:
        """Requests; common attributes are nearly always present, rare ones rarely."""
        rng = Random(f"ads events {self.seed}")
        drawers = [ranks(rng, a.values, a.alpha) for a in ATTRIBUTES]
        events = []
        for _ in range(count):
            places = distinct_ranks(rng, COUNT, 1.0, self.event_size)
            events.append(
                {ATTRIBUTES[p].name: _event_value(rng, ATTRIBUTES[p], drawers[p]) for p in places}
            )
        return events


def _size(rng: Random) -> int:
    """The number of predicates."""
    size = round(exp(log(_MEDIAN) + _SPREAD * rng.gauss(0.0, 1.0)))
    return min(max(size, 1), _MOST)


def _event_value(rng: Random, attribute: AdsAttribute, rank: Callable[[], int]) -> object:
    if attribute.type.endswith("list"):
        count = int(rng.random() * 12)
        return [attribute.value(r) for r in dict.fromkeys(rank() for _ in range(count))]
    return attribute.value(rank())


# --- expressions ------------------------------------------------------------------------------


def _conjunctions(rng: Random, seed: int) -> Callable[[int], str]:
    """A generator of conjunctions with a number of predicates on different attributes."""
    predicate = _predicates(rng, False, seed)
    attribute = _attributes(rng)

    def draw(size: int) -> str:
        if size == 1:
            return predicate(attribute(set()))
        used: set[int] = set()
        return f'["and",{",".join([predicate(attribute(used)) for _ in range(size)])}]'

    return draw


def _arbitrary(rng: Random, seed: int) -> Callable[[int], str]:
    """A generator of expressions: one to three conjunctions of predicates and shared parts."""
    random = rng.random
    predicate = _predicates(rng, True, seed)
    attribute = _attributes(rng)
    shared = [_part(rng, predicate, attribute) for _ in range(_SUBEXPRESSIONS)]

    def conjunction(size: int) -> str:
        used: set[int] = set()
        parts: list[str] = []
        left = size
        while left > 0:
            if len(parts) > 1 and left > 1 and random() < 0.3:
                weight, part = shared[int(_SUBEXPRESSIONS ** random()) - 1]
                if weight <= left and part not in parts:
                    parts.append(part)
                    left -= weight
                    continue
            parts.append(predicate(attribute(used)))
            left -= 1
        return parts[0] if len(parts) == 1 else f'["and",{",".join(parts)}]'

    def draw(size: int) -> str:
        if size < 4 or random() < 0.85:
            return conjunction(size)
        count = 2 if size < 9 or random() < 0.6 else 3
        sizes = [(size + place) // count for place in range(count)]
        return f'["or",{",".join([conjunction(part) for part in sizes])}]'

    return draw


def _part(
    rng: Random, predicate: Callable[[int], str], attribute: Callable[[set[int]], int]
) -> tuple[int, str]:
    """A shared subexpression, and its number of predicates."""
    size = 2 + int(rng.random() * 3)
    used: set[int] = set()
    written = ",".join(predicate(attribute(used)) for _ in range(size))
    drawn = rng.random()
    if drawn < 0.6:
        return size, f'["or",{written}]'
    if drawn < 0.8:
        return size, f'["not",["or",{written}]]'
    if drawn < 0.9:
        return size, f'["not",["and",{written}]]'
    return size, f'["and",{written}]'


def _attributes(rng: Random) -> Callable[[set[int]], int]:
    """A generator of attributes that marks each as used."""
    random = rng.random

    def attribute(used: set[int]) -> int:
        place = int((COUNT + 1) ** random()) - 1
        while place in used:
            place = (place + 1) % COUNT
        used.add(place)
        return place

    return attribute


# --- predicates -------------------------------------------------------------------------------


def _predicates(rng: Random, patterns: bool, seed: int) -> Callable[[int], str]:
    """A generator of predicates on an attribute, from its pool."""
    random = rng.random
    pools = _pools(patterns, seed)

    def predicate(place: int) -> str:
        pool = pools[place]
        return pool[int(len(pool) ** random()) - 1]

    return predicate


@lru_cache(maxsize=4)
def _pools(patterns: bool, seed: int) -> list[list[str]]:
    rng = Random(f"ads pools {seed}")
    return [_pool(rng, attribute, patterns) for attribute in ATTRIBUTES]


def _pool(rng: Random, attribute: AdsAttribute, patterns: bool) -> list[str]:
    """Different predicates on an attribute, popular ones first."""
    rank = ranks(rng, attribute.values, attribute.alpha)
    count = min(4 * attribute.values, _PREDICATES)
    return list(dict.fromkeys(_draw(rng, attribute, rank, patterns) for _ in range(count)))


def _draw(rng: Random, attribute: AdsAttribute, rank: Callable[[], int], patterns: bool) -> str:
    kind, drawn = attribute.type, rng.random()

    def some(most: int) -> list[object]:
        count = 1 + int(most * rng.random() ** 2)
        return [attribute.value(r) for r in dict.fromkeys(rank() for _ in range(count))]

    if kind == "bool":
        return _write("holds", attribute) if drawn < 0.6 else _write("=", attribute, drawn < 0.8)
    if kind.endswith("list"):
        if drawn < 0.70:
            return _write("any of", attribute, *some(6))
        if drawn < 0.90:
            return _write("none of", attribute, *some(6))
        return (
            _write("all of", attribute, *some(3))
            if drawn < 0.97
            else _write("is not empty", attribute)
        )
    if drawn > 0.98 and kind != "float":
        return _write("is null" if drawn > 0.99 else "is not null", attribute)
    if kind == "string":
        if patterns and attribute.name == "site.domain" and drawn < 0.1:
            return _pattern(rng, attribute, rank)
        if drawn < 0.40:
            return _write("=", attribute, attribute.value(rank()))
        if drawn < 0.85:
            return _write("in", attribute, *some(8))
        op = "!=" if drawn < 0.90 else "not in"
        return _write(op, attribute, *some(1 if op == "!=" else 8))
    low = int(rng.random() * attribute.values)
    if drawn < 0.50:
        high = min(low + int(rng.random() * 0.3 * attribute.values), attribute.values - 1)
        return _write("between", attribute, attribute.value(low), attribute.value(high))
    if drawn < 0.75 or kind == "float":
        return _write("<=" if drawn < 0.58 else ">=", attribute, attribute.value(low))
    if drawn < 0.90:
        return _write("=", attribute, attribute.value(rank()))
    return _write("in", attribute, *some(8))


def _pattern(rng: Random, attribute: AdsAttribute, rank: Callable[[], int]) -> str:
    domain = str(attribute.value(rank()))
    drawn = rng.random()
    if drawn < 0.5:
        return _write("ends with", attribute, domain[domain.index(".") :])
    return _write("starts with" if drawn < 0.8 else "contains", attribute, domain[:6])


def _write(op: str, attribute: AdsAttribute, *values: object) -> str:
    return _encode([op, attribute.name, *values])
