"""How far two versions of the statistics are apart: the population stability index (PSI).

    PSI = Σ (new − old) · ln(new / old)        over bins; every request is in exactly one

Below 0.1 little has changed, above 0.25 a lot has. The bins of an attribute:

    values only         missing, each of the common values of either version, all the rest
    with a histogram    missing, and ranges: those of the old version's histogram (or the new one's)
    lists               missing, empty, neither; and for each common element, present or not. A list
                        has many elements, so the bins of two elements overlap: the largest of these
                        indices is the attribute's.

A share below `FLOOR` counts as `FLOOR`; otherwise a value that only one version has seen would make
the index infinite.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FLOOR = 1e-4
DIGITS = 4

Stats = Mapping[str, Any]
"""The statistics of an attribute in a document."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far an attribute has drifted; a presence is None in a version without the attribute."""

    psi: float
    presence_before: float | None
    presence_after: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def psi(old: Sequence[float], new: Sequence[float]) -> float:
    """The index of two distributions over the same bins.

    >>> round(psi([0.5, 0.5], [0.6, 0.4]), 4)
    0.0405
    """
    total = 0.0
    for before, after in zip(old, new, strict=True):
        before, after = max(before, FLOOR), max(after, FLOOR)
        total += (after - before) * math.log(after / before)
    return total


def drift(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Drift]:
    """Every attribute of either document, by name."""
    before, after = old["attributes"], new["attributes"]
    return {name: _drift(before.get(name), after.get(name)) for name in sorted({*before, *after})}


def _drift(old: Stats | None, new: Stats | None) -> Drift:
    absent: Stats = {"presence": 0.0}
    index = _index(old or absent, new or absent)
    return Drift(
        float(f"{index:.{DIGITS}g}"),
        old["presence"] if old is not None else None,
        new["presence"] if new is not None else None,
    )


def _index(old: Stats, new: Stats) -> float:
    if "elements" in old or "elements" in new:
        return _list_index(old, new)
    ranges = old.get("histogram") or new.get("histogram")
    if ranges:
        edges = sorted(high for _, high, _ in ranges)
        return psi(_over_ranges(old, edges), _over_ranges(new, edges))
    before, after = _listed(old, "values"), _listed(new, "values")
    values = [*before, *(value for value in after if value not in before)]
    return psi(_over_values(old, before, values), _over_values(new, after, values))


def _over_values(stats: Stats, listed: Mapping[Any, float], values: Iterable[Any]) -> list[float]:
    shares = [listed.get(value, 0.0) for value in values]
    return [1 - stats["presence"], *shares, max(0.0, stats["presence"] - sum(shares))]


def _over_ranges(stats: Stats, edges: Sequence[float]) -> list[float]:
    """The shares of missing values, of each range up to an edge, and above the last; values inside
    a histogram bin are spread evenly."""
    bins = [0.0] * (len(edges) + 1)
    for value, share in stats.get("values", ()):
        bins[bisect_left(edges, value)] += share
    for low, high, share in stats.get("histogram", ()):
        for place in range(bisect_left(edges, low), bisect_left(edges, high) + 1):
            bins[place] += share * _overlap(low, high, edges, place)
    return [1 - stats["presence"], *bins]


def _overlap(low: float, high: float, edges: Sequence[float], place: int) -> float:
    """How much of a range lies in one of the bins."""
    if low == high:
        return 1.0
    begin = max(low, edges[place - 1]) if place else low
    end = min(high, edges[place]) if place < len(edges) else high
    return max(0.0, end - begin) / (high - low)


def _list_index(old: Stats, new: Stats) -> float:
    kinds = [(1 - t["presence"], t.get("empty", 0.0)) for t in (old, new)]
    before, after = ([*kind, max(0.0, 1 - sum(kind))] for kind in kinds)
    indices = [psi(before, after)]
    had, has = _listed(old, "elements"), _listed(new, "elements")
    for element in {*had, *has}:
        was, now = had.get(element, 0.0), has.get(element, 0.0)
        indices.append(psi([was, 1 - was], [now, 1 - now]))
    return max(indices)


def _listed(stats: Stats, field: str) -> dict[Any, float]:
    return dict(stats.get(field, ()))
