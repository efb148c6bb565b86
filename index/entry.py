"""What stands beside an expression in the index: a score and a validity window.

They are looked at when an id is emitted and are never part of the expression: a
window inside the tree would keep equal expressions from being one node, and every
`now` would satisfy nearly all of them.
"""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from index.language.tree import Tree
from index.language.types import INT_MAX, INT_MIN


@dataclass(frozen=True, slots=True)
class Entry:
    """An expression, its score, and the window `[start, end)` in epoch seconds."""

    tree: Tree
    score: int = 0
    start: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        if not _is_int(self.score) or not INT_MIN <= self.score <= INT_MAX:
            raise ValueError(f"a score is a 64-bit integer, not {self.score!r}")
        for name, moment in (("start", self.start), ("end", self.end)):
            if moment is not None and not is_moment(moment):
                raise ValueError(f"{name} is a number of epoch seconds, not {moment!r}")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"the window is empty: end {self.end} is not after {self.start}")

    def is_open(self, at: float) -> bool:
        """Whether the window contains the moment."""
        return (self.start is None or self.start <= at) and (self.end is None or at < self.end)


def check_id(id: object) -> int:
    """An id that an entry can have, or `ValueError`."""
    if not _is_int(id) or not 0 <= id <= INT_MAX:  # type: ignore[operator]
        raise ValueError(f"an id is an integer from 0 to 2**63 - 1, not {id!r}")
    return id  # type: ignore[return-value]


def is_moment(value: object) -> bool:
    """Whether a value can be a number of epoch seconds: one that a double tells apart."""
    if isinstance(value, float):
        return math.isfinite(value)
    return _is_int(value) and abs(value) <= 2**53  # type: ignore[arg-type]


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def best(ids: Iterable[int], entries: Mapping[int, Entry], limit: int) -> list[int]:
    """The `limit` ids with the highest scores, best first, lower id first among equals."""
    return heapq.nsmallest(limit, ids, key=lambda id: (-entries[id].score, id))
