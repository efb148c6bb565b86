"""Every engine on every workload that it can hold: the league table of `docs/papers.md`.

Engines take turns in one process, with the same expressions and events; their answers are compared
(`bench/index/measure.py`). An engine that cannot hold a workload is skipped with its reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.index import engines
from bench.index.engines import PAPERS, Engine
from bench.index.engines.peers import ATree, Paper
from bench.index.measure import Result, measure
from bench.papers.results import keep, kept
from index.language import Schema
from testkit.markdown import table
from testkit.progress import Progress
from testkit.workloads import make
from testkit.workloads.workload import Event

ENGINES = ("native", "flat", "a-tree", "quamina", *PAPERS)
_PEER_CAP = 10_000
"""The build of the crate a-tree is quadratic."""
_SECONDS = 1.0
"""Bound of an engine's matching time, so that slow ones see fewer events."""

Results = dict[str, Result]
"""By engine."""


@dataclass(frozen=True)
class Row:
    """A workload of the league. `leaf` is BE-Tree's capacity for its share of matches (section
    8.5 of that paper); `events` are fewer where the workload has few different ones."""

    name: str
    source: str
    workload: str
    parameters: dict[str, Any] = field(default_factory=dict)
    leaf: int = 5
    events: int = 100


_FEW = {"size": 5, "event_size": 7}

ROWS = (
    Row("be-tree", "BE-Tree, table III", "be-tree", leaf=20, events=40),
    Row("be-tree zipf", "BE-Tree, table III, zipf", "be-tree", {"alpha": 1.0}, 20, 40),
    Row("be-tree =", "BE-Tree, table III, equalities", "be-tree", {"equality": 1.0}, 20, 40),
    Row("be-tree 10 %", "BE-Tree, table III, 10 % match", "be-tree", {"matching": 0.1}, 160, 5),
    Row("be-tree 5/7", "BE-Tree, table III, Bloom filter", "be-tree", _FEW, 20, 40),
    Row("w0", "Propagation, W0", "w0"),
    Row("w1", "Propagation, W1", "w1"),
    Row("w2", "Propagation, W2", "w2"),
    Row("be-dense", "thesis, table 10.3.1, 100 attributes", "be-dense"),
    Row("be-sparse", "thesis, table 10.3.1, 30,000 attributes", "be-sparse"),
    Row("abe", "thesis, table 10.4.1", "abe"),
    Row("ranges", "TAMA, table I", "ranges"),
    Row("ads-conj", "thesis, section 10.3.4, generated", "ads-conj", leaf=5),
    Row("ads", "thesis, section 10.4.4, generated", "ads", leaf=5),
)


def league(n: int, progress: Progress, rows: Sequence[Row] = ROWS) -> dict[str, Results]:
    """The results by row and engine; known ones of the same binaries are reused."""
    found: dict[str, Results] = {}
    for place, row in enumerate(rows):
        progress.show(f"{row.name}, {place + 1} of {len(rows)} workloads", place, len(rows))
        found[row.name] = {result["engine"]: result for result in _results(row, n, progress)}
    progress.done()
    return found


def _results(row: Row, n: int, progress: Progress) -> list[Result]:
    workload = make(row.workload, **row.parameters)
    key: list[object] = ["league", workload.key(), n, row.leaf, row.events, list(ENGINES)]
    known = kept(key)
    if known is not None:
        return known

    def engine(name: str, schema: Schema, seen: Sequence[Event] = ()) -> Engine:
        if name in PAPERS:
            return Paper(name, schema, seen, row.leaf)
        made = engines.make(name, schema, seen)
        if isinstance(made, ATree):
            made.cap = _PEER_CAP
        return made

    results = measure(
        workload,
        n,
        row.events,
        ENGINES,
        rounds=3,
        seconds=_SECONDS,
        progress=progress,
        make=engine,
    )
    keep(key, results)
    return results


def league_page(found: dict[str, Results], rows: Sequence[Row] = ROWS) -> str:
    """A table for each workload, fastest engine first, and who is first everywhere."""
    parts = [_summary(found)]
    for row in rows:
        results = found[row.name]
        measured = sorted(
            (r for r in results.values() if "skipped" not in r),
            key=lambda r: float(r["match_us_median"]) * (1e6 if r["capped"] else 1),
        )
        native = results["native"]["match_us_median"]
        lines = [
            [
                f"{r['engine']} ({r['n']:,} only)" if r["capped"] else r["engine"],
                r["match_us_median"],
                r["match_us_p99"],
                None if r["capped"] else float(f"{r['match_us_median'] / native:.3g}"),
                r["ratio_to_flat"],
                r["build_s"],
                r["bytes_per_expression"],
            ]
            for r in measured
        ]
        first = measured[0]
        title = f"### {row.name}: {row.source}"
        what = f"{first['n']:,} expressions, {first['matches_per_event']:,} match an event."
        header = ["engine", "µs per event", "p99", "× native", "× flat", "build s", "bytes"]
        parts += [f"{title}\n\n{what}", table(header, lines), _skipped(results)]
    return "\n\n".join(part for part in parts if part)


def _summary(found: dict[str, Results]) -> str:
    rows = []
    for name, results in found.items():
        full = [r for r in results.values() if "skipped" not in r and not r["capped"]]
        native = next(r for r in full if r["engine"] == "native")
        others = [r for r in full if r["engine"] not in ("native", "flat")]
        best = min(others, key=lambda r: float(r["match_us_median"]), default=None)
        row = [name, native["match_us_median"], native["ratio_to_flat"]]
        if best is not None:
            times = best["match_us_median"] / native["match_us_median"]
            row += [best["engine"], best["match_us_median"], float(f"{times:.3g}")]
            row += ["yes" if times >= 1 else "**no**"]
        rows.append(row)
    header = ["workload", "native µs", "× flat", "next best", "µs", "times native", "native first"]
    return table(header, rows)


def _skipped(results: Results) -> str:
    reasons: dict[str, list[str]] = {}
    for result in results.values():
        if "skipped" in result:
            reasons.setdefault(result["skipped"], []).append(result["engine"])
    lines = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return "Not measured: " + " ".join(lines) if lines else ""
