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
from bench.papers.java_peers import Peers
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


def league_page(found: dict[str, Results], peers: Peers, rows: Sequence[Row] = ROWS) -> str:
    """Who is first everywhere, then a table for each workload, fastest engine first."""
    parts = [_summary(found), _losses(found), _PEERS]
    if peers.skipped:
        parts.append(f"The peers in Java were skipped: {peers.skipped}.")
    for row in rows:
        results = found[row.name]
        measured = [r for r in results.values() if "skipped" not in r]
        native = results["native"]
        what = f"{native['n']:,} expressions, {native['matches_per_event']:,} match an event."
        lines = [_line(r, native) for r in sorted(measured, key=_order)]
        lines += [_line(r, native) for r in sorted(peers.results.get(row.name, []), key=_order)]
        header = ["engine", "µs per event", "p99", "× native", "× flat", "build s", "bytes"]
        parts += [f"### {row.name}: {row.source}\n\n{what}", table(header, lines)]
        parts.append(_skipped(results))
    return "\n\n".join(part for part in parts if part)


def _order(result: Result) -> tuple[bool, float]:
    """Fastest first; those with fewer expressions last."""
    return bool(result["capped"]), float(result["match_us_median"])


def _line(result: Result, native: Result) -> list[object]:
    name, times = result["engine"], result.get("ratio_to_native")
    if result["capped"]:
        name = f"{name} ({result['n']:,} only)"
    else:
        times = float(f"{result['match_us_median'] / native['match_us_median']:.3g}")
    columns = ("match_us_median", "match_us_p99")
    others = ("ratio_to_flat", "build_s", "bytes_per_expression")
    return [name, *map(result.get, columns), times, *map(result.get, others)]


def _best(results: Results) -> tuple[Result, Result | None]:
    """The native core, and the fastest of the others but for the flat scan."""
    full = [r for r in results.values() if "skipped" not in r and not r["capped"]]
    others = [r for r in full if r["engine"] not in ("native", "flat")]
    best = min(others, key=lambda r: float(r["match_us_median"]), default=None)
    return results["native"], best


def _factor(native: Result, best: Result) -> float:
    return float(f"{best['match_us_median'] / native['match_us_median']:.3g}")


def _summary(found: dict[str, Results]) -> str:
    rows = []
    for name, results in found.items():
        native, best = _best(results)
        row = [name, native["match_us_median"], native["ratio_to_flat"]]
        if best is not None:
            factor = _factor(native, best)
            row += [best["engine"], best["match_us_median"], factor]
            row += ["yes" if factor >= 1 else "**no**"]
        rows.append(row)
    header = ["workload", "native µs", "× flat", "next best", "µs", "times native", "native first"]
    return table(header, rows)


def _losses(found: dict[str, Results]) -> str:
    """Why our core is not first, for the workloads where it is not."""
    lines = []
    for name, results in found.items():
        native, best = _best(results)
        if best is not None and _factor(native, best) < 1:
            why = WHY_NOT_FIRST.get(name, "not profiled; small runs are mostly fixed costs")
            lines.append(f"- {name}: {why}.")
    return "\n".join(["Where our core is not first:", "", *lines]) if lines else ""


def _skipped(results: Results) -> str:
    reasons: dict[str, list[str]] = {}
    for result in results.values():
        if "skipped" in result:
            reasons.setdefault(result["skipped"], []).append(result["engine"])
    lines = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return "Not measured: " + " ".join(lines) if lines else ""


WHY_NOT_FIRST = {
    "be-tree 10 %": "a tenth of all expressions match, and the core hardly touches others (at "
    "50,000 expressions 5,554 postings an event for 5,005 matches); `perf` finds 85 % of its "
    "time in verifying them (`find_in` and `formula::is_true`), about seven literals one by one, "
    "each candidate at a place of memory of its own. Bitmap-CC evaluates each distinct predicate "
    "once an event and then checks a candidate by bits of a table that stays in the cache, in "
    "leaves of 160 that lie together. Ads are not like that: fewer than one in a hundred match"
}
"""From profiles (`perf record` of the core's matching loop)."""

_PEERS = """\
Peers of today are in the same tables: the crates `a-tree` 0.6.1 and `quamina` 0.7.0 (a port of the
Go library) in the same process, `event-ruler` 2.1.0 and Lucene Monitor 9.11.1 in a process of
their own (`bench/peers/`), which read the exported workload. They get fewer expressions, since
their builds are slow or fail with more; *× flat*, and *× native* of those in Java, compare with the
same expressions. All but `a-tree` read the event as JSON text, which is part of their time and no
part of the others'. Their answers are compared with ours. `hypermatch` and `quamina` in Go are not
measured: the Go module proxy that we reach refuses both."""
