"""The known name that is most similar to a misspelt one: `contry`, `country`.

`difflib` takes up to a millisecond for two names, under the interpreter's lock. So all names are
ranked by the pairs of letters that they share, which is cheap, and `difflib` sees only the best
few of them, for a bounded time.

    country   ^c co ou un nt tr ry y$   one bit each, by hash
    contry    ^c co on nt tr ry y$
"""

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache, reduce
from heapq import nlargest
from operator import or_
from time import perf_counter

MAX_LENGTH = 64
"""Longer names are neither suggested nor corrected."""

MOST_COMPARED = 8
MAX_SECONDS = 0.002
LEAST_RATIO = 0.6

_BITS = 251


class Names:
    """Known names, prepared for any number of questions."""

    __slots__ = ("_known",)

    def __init__(self, known: Iterable[str]) -> None:
        self._known = [
            (name, lowered, _pairs(lowered))
            for name, lowered in ((name, name.lower()) for name in known)
            if len(lowered) <= MAX_LENGTH
        ]

    def nearest(self, name: str) -> str | None:
        """The most similar name, in any case of its letters, if one is close."""
        if len(name) > MAX_LENGTH:
            return None
        lowered = name.lower()
        pairs = _pairs(lowered)
        ranked = nlargest(
            MOST_COMPARED, self._known, key=lambda known: _similarity(pairs, known[2])
        )
        end = perf_counter() + MAX_SECONDS
        best, best_ratio = None, LEAST_RATIO
        matcher = SequenceMatcher(b=lowered)
        for known, known_lowered, _ in ranked:
            matcher.set_seq1(known_lowered)
            if matcher.real_quick_ratio() >= best_ratio and matcher.quick_ratio() >= best_ratio:
                ratio = matcher.ratio()
                if ratio > best_ratio or (best is None and ratio == best_ratio):
                    best, best_ratio = known, ratio
            if perf_counter() > end:
                break
        return best


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar of a few known names, if one is close."""
    return Names(known).nearest(name)


def _pairs(name: str) -> int:
    """A bit for each pair of neighbouring letters, the edges included."""
    return reduce(or_, map(_bit, f"^{name}", f"{name}$"))


@lru_cache(maxsize=4096)
def _bit(one: str, other: str) -> int:
    return 1 << (31 * ord(one) + ord(other)) % _BITS


def _similarity(one: int, other: int) -> float:
    return (one & other).bit_count() / (one | other).bit_count()
