"""An interval of values, and the two cuts that make it.

A cut lies between values, BEFORE or AFTER one of them; every bound is a cut:

        [a      low  closed   BEFORE a          a]      high closed   AFTER a
        (a      low  open     AFTER a           a)      high open     BEFORE a

The thesis treats each operator by itself; in terms of cuts there are only these two.
Cuts are in order as (elements of the value, side).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from index.language.types import Scalar
from index.reference.elements import Elements

BEFORE, AFTER = 0, 1

Cut = tuple[Scalar, int]
"""A value, and BEFORE or AFTER."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A range of values; a bound of None is no bound."""

    low: Scalar | None
    low_closed: bool
    high: Scalar | None
    high_closed: bool

    @property
    def low_cut(self) -> Cut | None:
        """Where it begins; None at the beginning of the domain."""
        return None if self.low is None else (self.low, BEFORE if self.low_closed else AFTER)

    @property
    def high_cut(self) -> Cut | None:
        """Where it ends; None at the end of the domain."""
        return None if self.high is None else (self.high, AFTER if self.high_closed else BEFORE)

    def __str__(self) -> str:
        low = "(-∞" if self.low is None else f"{'[' if self.low_closed else '('}{self.low!r}"
        high = "∞)" if self.high is None else f"{self.high!r}{']' if self.high_closed else ')'}"
        return f"{low}, {high}"


WHOLE = Interval(None, False, None, False)


def between(low: Cut | None, high: Cut | None) -> Interval:
    """The interval from one cut to another."""
    low_value, low_side = low or (None, AFTER)
    high_value, high_side = high or (None, BEFORE)
    return Interval(low_value, low_side == BEFORE, high_value, high_side == AFTER)


def point(value: Scalar) -> Interval:
    """The interval of one value."""
    return Interval(value, True, value, True)


def cuts(intervals: Iterable[Interval]) -> Iterator[Cut]:
    """The cuts of some intervals; the ends of the domain have none."""
    for interval in intervals:
        for cut in (interval.low_cut, interval.high_cut):
            if cut is not None:
                yield cut


def complement(intervals: Iterable[Interval]) -> list[Interval]:
    """The rest of the domain outside ascending, disjoint intervals, ascending."""
    gaps = []
    low: Cut | None = None
    for interval in intervals:
        if interval.low_cut is not None and interval.low_cut != low:
            gaps.append(between(low, interval.low_cut))
        if interval.high_cut is None:
            return gaps
        low = interval.high_cut
    gaps.append(between(low, None))
    return gaps


def check_disjoint(intervals: Iterable[Interval], elements: Callable[[Any], Elements]) -> None:
    """Raise `ValueError` if an interval is empty or two overlap."""

    def position(cut: Cut | None, otherwise: float) -> tuple[tuple[float, ...], int]:
        return ((otherwise,), AFTER) if cut is None else (elements(cut[0]), cut[1])

    spans = sorted(
        (position(i.low_cut, -math.inf), position(i.high_cut, math.inf)) for i in intervals
    )
    if any(low >= high for low, high in spans):
        raise ValueError("an interval ends before it begins")
    if any(high > low for (_, high), (low, _) in pairwise(spans)):
        raise ValueError("two intervals overlap")
