"""What is known of the values of attributes, for warnings about a targeting.

    catalogue   the values that an attribute can have, if they are declared
    code        the words of the first catalogue (`vocabulary.py`), for the names it has
    statistics  how often an attribute is missing, and which values it had

It goes to the processes that check expressions. It can be large, so it is packed once and travels
as bytes.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from campaigns.catalogue import vocabulary
from index.language.nearest import nearest

OFTEN = 0.05
"""The share of requests without an attribute that is often."""

_COMPARED = 2000
"""With more values than this, the nearest one is not looked for."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The values that an attribute had in the requests of the statistics; not `complete` if there
    were more than the statistics list. `ranges` has the rest of the numbers."""

    presence: float
    values: frozenset[object]
    complete: bool
    ranges: tuple[tuple[float, float], ...] = ()

    def never(self, value: object) -> bool:
        """Whether no request had the value."""
        if not self.complete or value in self.values:
            return False
        number = isinstance(value, int | float)
        return not (number and any(low <= value <= high for low, high in self.ranges))  # type: ignore[operator]


@dataclass(frozen=True)
class Knowledge:
    """`declared` has the values of attributes by the catalogue, none for any value; `days` is the
    time of the statistics. `names` is whether what the code knows of a name counts."""

    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)
    days: str = ""
    names: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (self._packed,)

    @cached_property
    def _packed(self) -> bytes:
        return pickle.dumps((dict(self.declared), dict(self.seen), self.days, self.names))

    def values_of(self, name: str) -> tuple[str, ...]:
        """The words that an attribute can have, as far as they are known."""
        if name in self.declared:
            return self.declared[name]
        return vocabulary.VALUES.get(name, ()) if self.names else ()

    def numbers_of(self, name: str) -> range | None:
        """The numbers that an attribute can have, if they are known."""
        return vocabulary.NUMBERS.get(name) if self.names else None

    def kept_bits(self, name: str) -> tuple[int, int] | None:
        """How many bits of an IPv4 and an IPv6 address an attribute has, if not all."""
        return vocabulary.KEPT_BITS.get(name) if self.names else None

    def is_unlisted(self, name: str, value: str) -> bool:
        """Whether an attribute probably never has a value, by its vocabulary."""
        seen = self.seen.get(name)
        if seen is not None and value in seen.values:
            return False
        words = self.values_of(name)
        if not words or value in words:
            return False
        if name in vocabulary.OPEN and name not in self.declared:
            return vocabulary.usual(name, value) not in (value, None)
        return True

    def nearest(self, name: str, value: str) -> str | None:
        """The word of the vocabulary that was probably meant."""
        words = self.values_of(name)
        if name not in self.declared:
            usual = vocabulary.usual(name, value)
            if usual is not None and (usual in words or name in vocabulary.OPEN):
                return usual
        folded = value.strip().casefold()
        for word in words:
            if word.casefold() == folded:
                return word
        return nearest(value, words) if len(words) <= _COMPARED else None

    def often_missing(self, name: str) -> str | None:
        """How often requests lack an attribute, in words, if that is often."""
        seen = self.seen.get(name)
        if seen is None:
            return "often" if self.names and name in vocabulary.OFTEN_MISSING else None
        missing = 1 - seen.presence
        return f"in {missing:.0%} of the requests" if missing >= OFTEN else None


NOTHING = Knowledge(names=False)
"""For attributes that are not of the catalogue."""


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Knowledge:
    return Knowledge(*pickle.loads(packed))


def seen_in(document: Mapping[str, Any]) -> tuple[dict[str, Seen], str]:
    """What a statistics document says of each attribute, and its days."""
    found = {}
    for name, stats in document["attributes"].items():
        listed = stats.get("elements", stats.get("values", ()))
        values = frozenset(value for value, _ in listed)
        ranges = tuple((low, high) for low, high, _ in stats.get("histogram", ()))
        complete = stats["distinct"] <= len(values) or bool(ranges)
        found[name] = Seen(stats["presence"], values, complete, ranges)
    days = document["window"]["days"]
    return found, days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
