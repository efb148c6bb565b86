"""How far two versions of the statistics are apart: the population stability index (PSI).

    PSI = Σ (new − old) · ln(new / old)        over bins; every request is in exactly one

Below 0.1 little has changed, above 0.25 a lot has. The bins of an attribute:

    values only         missing, each of the common values of either version, all the rest
    with a histogram    missing, and ranges: those of the old version's histogram (or the new one's)
    lists               missing, empty, neither; and for each common element, present or not. A list
                        has many elements, so the bins of two elements overlap: the largest of these
                        indices is the attribute's.

Two samples of the same traffic differ as well, by chance, and the more so the fewer rows they have.
Of n and m rows over k bins, PSI · nm / (n + m) has about the distribution of chi-square with k − 1
degrees of freedom, provided that each bin holds a few rows. So bins in which one of the versions
would have fewer than `FEWEST` rows are taken together, and `chance` is a value that the index of
unchanged traffic exceeds about once in 30,000 times.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FLOOR = 1e-4
"""A smaller share counts as this much; otherwise a bin that one version has not seen would make the
index infinite."""

FEWEST = 5.0
DIGITS = 4

_Z = 4.0
"""Standard deviations of a normal distribution, for `chance`."""

Stats = Mapping[str, Any]
"""The statistics of an attribute in a document."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far an attribute has drifted, and how far chance alone would take it; a presence is None
    in a version without the attribute."""

    psi: float
    chance: float
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
    rows = max(1, old["rows"]), max(1, new["rows"])
    names = sorted({*before, *after})
    return {name: _drift(before.get(name), after.get(name), rows) for name in names}


Rows = tuple[int, int]
"""The rows of the old version and of the new one."""


def _drift(old: Stats | None, new: Stats | None, rows: Rows) -> Drift:
    absent: Stats = {"presence": 0.0}
    index, chance = _index(old or absent, new or absent, rows)
    return Drift(
        float(f"{index:.{DIGITS}g}"),
        float(f"{chance:.{DIGITS}g}"),
        old["presence"] if old is not None else None,
        new["presence"] if new is not None else None,
    )


def _index(old: Stats, new: Stats, rows: Rows) -> tuple[float, float]:
    """The index, and what chance explains of it."""
    if "elements" in old or "elements" in new:
        return _list_index(old, new, rows)
    ranges = old.get("histogram") or new.get("histogram")
    if ranges:
        edges = sorted(high for _, high, _ in ranges)
        return _judged(_over_ranges(old, edges), _over_ranges(new, edges), rows)
    before, after = _listed(old, "values"), _listed(new, "values")
    values = [*before, *(value for value in after if value not in before)]
    return _judged(_over_values(old, before, values), _over_values(new, after, values), rows)


def _judged(old: Sequence[float], new: Sequence[float], rows: Rows) -> tuple[float, float]:
    """The index over the bins that hold enough rows, and one bin for all the others; with what
    chance explains of it."""
    n, m = rows
    kept: list[tuple[float, float]] = []
    rest_old = rest_new = 0.0
    for before, after in zip(old, new, strict=True):
        expected = (before * n + after * m) / (n + m)
        if expected * min(n, m) >= FEWEST:
            kept.append((before, after))
        else:
            rest_old, rest_new = rest_old + before, rest_new + after
    if rest_old or rest_new:
        kept.append((rest_old, rest_new))
    index = psi([before for before, _ in kept], [after for _, after in kept])
    return index, _quantile(len(kept) - 1) * (1 / n + 1 / m)


def _quantile(freedom: int) -> float:
    """Of chi-square, `_Z` standard deviations above its middle (Wilson and Hilferty)."""
    if freedom < 1:
        return 0.0
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + _Z * math.sqrt(part)) ** 3)


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


def _list_index(old: Stats, new: Stats, rows: Rows) -> tuple[float, float]:
    """The index, of all those of a list, that exceeds its chance the most."""
    kinds = [(1 - t["presence"], t.get("empty", 0.0)) for t in (old, new)]
    before, after = ([*kind, max(0.0, 1 - sum(kind))] for kind in kinds)
    indices = [_judged(before, after, rows)]
    had, has = _listed(old, "elements"), _listed(new, "elements")
    for element in {*had, *has}:
        was, now = had.get(element, 0.0), has.get(element, 0.0)
        indices.append(_judged([was, 1 - was], [now, 1 - now], rows))
    return max(indices, key=lambda each: each[0] - each[1])


def _listed(stats: Stats, field: str) -> dict[Any, float]:
    return dict(stats.get(field, ()))
