"""The papers' parameters, varied one by one: BE-Tree's table III, section 6.2.2 of the Propagation
paper and the thesis's tables 10.3.1 and 10.4.1, with the papers' engines beside the native core.

A point changes one parameter and leaves the others at the paper's defaults. Three values of each
are measured: the ends of the paper's range and one between.
"""

from collections.abc import Sequence
from typing import Any

from bench.index import engines
from bench.index.engines import PAPERS, Engine
from bench.index.engines.peers import Paper
from bench.index.measure import Result, measure
from bench.papers import plots
from bench.papers.figures import Figure, Point
from bench.papers.plots import Curve
from bench.papers.report import DOCS
from bench.papers.results import keep, kept
from index.language import Schema
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Event

_CONJUNCTIVE = (
    "native",
    "flat",
    "be-tree",
    "be-tree-bitmap-cc",
    "propagation-dynamic",
    "pst-bloom",
    "pst-hash",
    "a-tree-thesis",
)
_ARBITRARY = ("native", "flat", "a-tree-thesis")
_CLUSTERED = (
    "native",
    "flat",
    "be-tree-bitmap-cc",
    "propagation",
    "propagation-static",
    "propagation-dynamic",
)
_NAMES = {"abe": _ARBITRARY, "w0": _CLUSTERED}
"""The engines of a workload, if not the conjunctive ones."""
_MOST_EVENTS = 40
_SECONDS = 0.3
_SMALL = 5000
"""Below this only the ends of a range are measured."""

_Rows = tuple[tuple[str, str, Sequence[Any]], ...]
"""A parameter, its title, its values; `size` of table III goes with the size of the event."""

_TABLE_III: _Rows = (
    ("dimensions", "attributes", (50, 400, 1400)),
    ("cardinality", "values of an attribute", (48, 1000, 150_000)),
    ("range_share", "width of a range", (0.06, 0.12, 0.5)),
    ("selectivity", "values of an attribute, equalities only", (2, 4, 10)),
    ("size", "predicates of an expression", (5, 26, 66)),
    ("equality", "share of equalities", (0.2, 0.6, 1.0)),
    ("matching", "matching probability", (0.0001, 0.01, 0.5)),
    ("alpha", "skew of the attributes (α)", (0, 1, 2)),
)
_SECTION_6_2_2: _Rows = (
    ("values", "values of an attribute", (10, 50, 100)),
    ("predicates", "predicates of an expression", (4, 8, 14)),
)
_TABLE_10_3_1: _Rows = (
    ("alpha", "skew of the attributes (α)", (0, 2, 5)),
    ("dimensions", "attributes", (100, 3000, 30_000)),
    ("cardinality", "values of an attribute", (3, 100, 1000)),
    ("size", "predicates of an expression", (5, 15, 30)),
    ("event_size", "attributes of an event", (30, 54, 90)),
    ("matching", "matching probability", (0.001, 0.01, 0.5)),
    ("equality", "share of equalities", (0, 0.4, 1)),
)
_TABLE_10_4_1: _Rows = (
    ("depth", "depth of the tree", (1, 3, 4)),
    ("children", "children of a node", (2, 4, 8)),
    ("repeat", "repeat times", (0, 2, 5)),
    ("dimensions", "attributes", (100, 1000, 30_000)),
    ("cardinality", "values of an attribute", (3, 100, 1000)),
    ("event_size", "attributes of an event", (5, 15, 30)),
    ("alpha", "skew of the attributes (α)", (0, 2, 5)),
)
_EVENT_SIZES = {5: 13, 26: 39, 66: 81}
_LOGARITHMIC = {"dimensions", "cardinality", "matching"}


def figures(n: int) -> list[Figure]:
    """All figures; at most `n` expressions a point."""
    found = []
    for workload, source, rows in (
        ("be-tree", "BE-Tree, table III", _TABLE_III),
        ("w0", "Propagation, section 6.2.2", _SECTION_6_2_2),
        ("be-dense", "thesis, table 10.3.1", _TABLE_10_3_1),
        ("abe", "thesis, table 10.4.1", _TABLE_10_4_1),
    ):
        sizes = (n // 4, n // 2, n)
        points = tuple(Point(size, workload, size) for size in _some(sizes, n))
        title = f"{workload}: expressions"
        found.append(Figure(f"papers-{workload}-n", title, "expressions", source, points))
        for name, label, values in rows:
            points = tuple(_point(workload, name, value, n) for value in _some(values, n))
            slug = f"papers-{workload}-{name.replace('_', '-')}"
            title, log_x = f"{workload}: {label}", name in _LOGARITHMIC
            found.append(Figure(slug, title, label, source, points, log_x))
    return found


def _some(values: Sequence[Any], n: int) -> Sequence[Any]:
    return values if n >= _SMALL else (values[0], values[-1])


def _point(workload: str, name: str, value: float, n: int) -> Point:
    parameters: dict[str, Any] = {name: value}
    if name == "selectivity":
        parameters = {"cardinality": value, "equality": 1.0, "operator_class": "minimum"}
    elif name == "predicates":
        parameters = {"free": value - 2}
    elif name == "size" and workload == "be-tree":
        parameters["event_size"] = _EVENT_SIZES[int(value)]
    elif (name, value) in (("depth", 4), ("children", 8)):
        n //= 4  # hundreds of predicates each
    return Point(value, workload, n, parameters)


def measured(point: Point, progress: Progress) -> list[Result]:
    """The results of a point; known ones of the same binaries are reused."""
    workload = make(point.workload, **point.parameters)
    names = _NAMES.get(point.workload, _CONJUNCTIVE)
    matching = getattr(workload, "matching", 0.001)
    bases = max(1, round(1 / matching))
    events = max(1, min(_MOST_EVENTS, bases // 2))
    leaf = 5 if matching < 0.01 else 20 if matching < 0.1 else 160
    key: list[object] = ["parameters", workload.key(), point.n, list(names), events, leaf]
    known = kept(key)
    if known is not None:
        return known

    def engine(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
        return (
            Paper(name, schema, seen, leaf) if name in PAPERS else engines.make(name, schema, seen)
        )

    results = measure(
        workload,
        point.n,
        events,
        names,
        rounds=3,
        seconds=_SECONDS,
        progress=progress,
        make=engine,
    )
    keep(key, results)
    return results


Swept = list[tuple[Figure, list[list[Result]]]]
"""Each figure with the results of its points."""


def sweeps(n: int, progress: Progress) -> Swept:
    """Measure all figures."""
    all_figures = figures(n)
    found: Swept = []
    for place, figure in enumerate(all_figures):
        shown = f"{figure.title}, {place + 1} of {len(all_figures)} parameters"
        progress.show(shown, place, len(all_figures))
        found.append((figure, [measured(point, progress) for point in figure.points]))
    progress.done()
    return found


def parameters_page(found: Swept, picture: bool) -> str:
    """A table for each parameter, and a plot if `picture`."""
    return "\n\n".join([_TEXT, *(_section(*each, picture) for each in found)])


def _section(figure: Figure, results: Sequence[list[Result]], picture: bool) -> str:
    names = [r["engine"] for r in results[0]]
    rows = []
    for point, found in zip(figure.points, results, strict=True):
        cells = [None if "skipped" in r else r["match_us_median"] for r in found]
        first = next(r for r in found if "skipped" not in r)
        rows.append([point.x, point.n, first["matches_per_event"], *cells])
    header = [figure.x_label, "n", "matches", *(f"{name} µs" for name in names)]
    parts = [f"### {figure.title} ({figure.source})", table(header, rows)]
    if picture and plots.is_possible():
        x = [point.x for point in figure.points]
        curves = [
            Curve(name, x, [row[3 + place] for row in rows])
            for place, name in enumerate(names)
            if all(row[3 + place] is not None for row in rows)
        ]
        path = DOCS / "benchmarks" / f"{figure.slug}.svg"
        matches = Curve("matches", x, [row[2] for row in rows])
        plots.draw(path, figure.title, figure.x_label, curves, matches, figure.log_x)
        parts.append(f"![{figure.title}](benchmarks/{path.name})")
    return "\n\n".join(parts)


_TEXT = """\
One parameter at a time, with three values of the paper's range, µs per event. The papers' plots are
lost in our copies; what they say in words is among the claims above."""
