"""The figures of the thesis that `sweep` measures, as lists of points.

A point changes one parameter of a workload and leaves the others at their defaults. Where
expressions get long (a depth of 6 is 500 predicates) there are fewer of them; the table shows how
many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_PREDICATES = 50
"""Mean predicates per expression beyond which a point has fewer expressions than its extent."""


@dataclass(frozen=True)
class Point:
    """One measurement: a workload, its changed parameters, and the number of expressions."""

    x: float
    workload: str
    n: int
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A table and a plot. `source` is the corresponding figure of the thesis."""

    slug: str
    title: str
    x_label: str
    source: str
    points: tuple[Point, ...]
    log_x: bool = False
    shows_best: bool = False
    """Whether the best ten matches are shown beside all."""


@dataclass(frozen=True)
class Extent:
    """The size of a sweep: expressions of a point (`n`) and of the points that vary them
    (`sizes`), the largest size of `growth`, the sizes for the crate a-tree (`peer`), and the
    workloads whose size is not `n`."""

    name: str
    n: int
    sizes: tuple[int, ...]
    growth: int
    peer: tuple[int, ...]
    workloads: dict[str, int] = field(default_factory=dict)
    sparing: bool = False
    """Whether to measure only three values per parameter, and only some figures."""


K, M = 1000, 1_000_000

THESIS = {"ads": 1_392_196, "ads-conj": 3 * M, "abe": M, "be-dense": M, "be-sparse": M}
"""The thesis's numbers of expressions."""

QUICK = Extent("quick", 20 * K, (5 * K, 20 * K, 50 * K), 100 * K, (20 * K,), sparing=True)
NORMAL = Extent("normal", 100 * K, (30 * K, 100 * K, 300 * K), M, (20 * K, 100 * K), THESIS)
FULL = Extent("full", M, (30 * K, 100 * K, 300 * K, M, 3 * M), 10 * M, (20 * K, 100 * K), THESIS)


def overview(extent: Extent) -> list[Point]:
    """Each workload with its defaults."""
    return [
        Point(place, name, extent.workloads.get(name, extent.n))
        for place, name in enumerate(THESIS)
    ]


def peer(extent: Extent) -> list[Point]:
    """The workloads for the crate a-tree: conjunctions."""
    names = ("ads-conj", "be-dense", "be-sparse")
    return [Point(n, name, n) for name in names for n in extent.peer]


def figures(extent: Extent) -> list[Figure]:
    """All other figures."""
    abe, both = (_ABE[:2], ()) if extent.sparing else (_ABE, ("be-dense", "be-sparse"))
    more = () if extent.sparing else (("dimensions", "Attributes", _DIMENSIONS, "10.3.4"),)
    return [
        _size("abe", extent, "10.4.3(a)"),
        *(_vary("abe", *row, extent) for row in abe),
        *(_size(name, extent, "10.3.2") for name in both),
        *(_vary(name, *row, extent) for name in both for row in _BE),
        *(_vary("be-dense", *row, extent) for row in more),
    ]


_DIMENSIONS = (100, 300, 1000, 3000, 10_000, 30_000)
_VALUES = (3, 10, 30, 100, 300, 1000)
_EVENTS = (5, 10, 15, 20, 25, 30)
_Rows = tuple[tuple[str, str, Sequence[float], str], ...]
"""A parameter, its title, its values, and the figure of the thesis."""

_ABE: _Rows = (
    ("depth", "Depth of the tree", range(1, 7), "10.4.3(b)"),
    ("children", "Children of a node", range(2, 13, 2), "10.4.3(c)"),
    ("repeat", "Repeat times", range(6), "10.4.3(d)"),
    ("dimensions", "Attributes", _DIMENSIONS, "10.4.3(e)"),
    ("cardinality", "Values of an attribute", _VALUES, "10.4.3(f)"),
    ("event_size", "Attributes of an event", _EVENTS, "10.4.3(g)"),
    ("alpha", "Skew of the attributes (α)", range(6), "10.4.3(h)"),
)
_BE: _Rows = (
    ("alpha", "Skew of the attributes (α)", (0, 1, 2, 3, 4, 5), "10.3.3"),
    ("cardinality", "Values of an attribute", _VALUES, "10.3.5"),
    ("size", "Predicates of an expression", (5, 10, 15, 20, 25, 30), "10.3.6"),
    ("event_size", "Attributes of an event", (30, 42, 54, 66, 78, 90), "10.3.7"),
    ("matching", "Matching probability", (0.001, 0.005, 0.01, 0.05, 0.1, 0.5), "10.3.8"),
    ("equality", "Share of equalities", (0, 0.2, 0.4, 0.6, 0.8, 1), "10.3.9"),
)
_LOGARITHMIC = {"dimensions", "cardinality", "matching"}


def _size(workload: str, extent: Extent, source: str) -> Figure:
    points = tuple(Point(n, workload, n) for n in extent.sizes)
    return Figure(f"{workload}-n", f"{workload}: expressions", "expressions", source, points, True)


def _vary(
    workload: str,
    parameter: str,
    title: str,
    values: Sequence[float],
    source: str,
    extent: Extent,
) -> Figure:
    if extent.sparing:
        values = [values[0], values[len(values) // 2 - 1], values[len(values) // 2]]
    points = []
    for value in values:
        parameters: dict[str, Any] = {parameter: value}
        most = _PREDICATES * extent.n / _mean_predicates(workload, parameters)
        n = min(extent.n, int(most))
        points.append(Point(value, workload, n, parameters))
    return Figure(
        f"{workload}-{parameter.replace('_', '-')}",
        f"{workload}: {title[0].lower()}{title[1:]}",
        title,
        source,
        tuple(points),
        parameter in _LOGARITHMIC,
    )


def _mean_predicates(workload: str, parameters: dict[str, Any]) -> float:
    """Mean number of predicates of an expression."""
    if workload != "abe":
        return float(parameters.get("size", 5))
    branches = 0.8 * parameters.get("children", 4) + 0.1 + 0.2
    return float(branches ** (parameters.get("depth", 3) - 1))
