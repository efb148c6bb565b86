"""Writes measured points to `docs/benchmarks.md`, with the machine and the date."""

import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime

from bench.index.measure import Result
from bench.papers import plots
from bench.papers.figures import Figure, Point
from bench.papers.plots import Curve
from bench.papers.targets import Target, times_faster
from testkit import ROOT
from testkit.machine import description
from testkit.markdown import table

DOCS = ROOT / "docs"

_COLUMNS: tuple[tuple[str, str], ...] = (
    ("µs per event", "match_us_median"),
    ("p99", "match_us_p99"),
    ("× flat", "ratio_to_flat"),
    ("build s", "build_s"),
    ("insert µs", "insert_us_median"),
    ("p99", "insert_us_p99"),
    ("bytes per expression", "bytes_per_expression"),
)


def introduction(command: str) -> str:
    """The method, the machine and the date."""
    now = datetime.now(UTC)
    return f"""# Benchmarks

Printed by `{command}` on {now:%Y-%m-%d}. Machine: {machine()}.

All engines run in one process on one core and take turns, round by round; their answers are
compared and must be equal. *µs per event* is the engine's own time to find all ids, in ascending
order, into a reused buffer: the median over the events of the median over the rounds. All times are
CPU times of the thread, since the machine may be shared; its caches are shared, too. *× flat* is
how many times faster an engine is than `flat`, a tight scan over all expressions in Rust, in the
same run. *Inserts* are from JSON trees, one by one, at the end of the build.
`bench/index/measure.py` has the method, `testkit/workloads/` the workloads.
"""


def machine() -> str:
    """Processor, cores, memory, versions."""
    rustc = shutil.which("rustc")
    if rustc is None:
        return description()
    version = subprocess.run([rustc, "-V"], capture_output=True, text=True, check=False).stdout
    return f"{description()}, {' '.join(version.split()[:2])}"


def overview(measured: Sequence[tuple[Point, list[Result]]]) -> str:
    """All workloads and engines."""
    rows = []
    for point, results in measured:
        for result in results:
            if "skipped" in result:
                rows.append([point.workload, result["engine"], f"skipped: {result['skipped']}"])
                continue
            cells = [result[field] for _, field in _COLUMNS]
            matches = result["matches_per_event"]
            rows.append([point.workload, result["engine"], result["n"], matches, *cells])
    header = ["workload", "engine", "n", "matches", *(title for title, _ in _COLUMNS)]
    return "## The workloads\n\n" + table(header, rows)


def figure(figure: Figure, measured: Sequence[list[Result]], picture: bool) -> str:
    """A table, and a plot in `docs/benchmarks/` if `picture`."""
    engines = [r["engine"] for r in measured[0] if "skipped" not in r]
    by_engine = {
        name: [next(r for r in results if r["engine"] == name) for results in measured]
        for name in engines
    }
    best = [name for name in engines if figure.shows_best and by_engine[name][0]["top_us_median"]]
    header = [figure.x_label, "n", "matches"]
    for name in engines:
        header += [f"{name} µs", "p99"]
    header += [f"{name}, best ten, µs" for name in best]
    header += [f"{name} × flat" for name in engines if name != "flat"]
    rows = []
    for place, point in enumerate(figure.points):
        ours = [by_engine[name][place] for name in engines]
        row = [point.x, ours[0]["n"], ours[0]["matches_per_event"]]
        for result in ours:
            row += [result["match_us_median"], result["match_us_p99"]]
        row += [by_engine[name][place]["top_us_median"] for name in best]
        row += [r["ratio_to_flat"] for r in ours if r["engine"] != "flat"]
        rows.append(row)
    title = f"## {figure.title}"
    source = f"\n\nRepeats figure {figure.source} of the thesis." if figure.source else ""
    parts = [f"{title}{source}", table(header, rows)]
    if picture and plots.is_possible():
        parts.insert(1, _picture(figure, by_engine, best))
    return "\n\n".join(parts)


def _picture(figure: Figure, by_engine: dict[str, list[Result]], best: Sequence[str]) -> str:
    x = [point.x for point in figure.points]
    curves = [Curve(name, x, [r["match_us_median"] for r in rs]) for name, rs in by_engine.items()]
    for name in best:
        times = [result["top_us_median"] for result in by_engine[name]]
        curves.append(Curve(f"{name}, best ten", x, times))
    first = next(iter(by_engine.values()))
    matches = Curve("matches per event", x, [r["matches_per_event"] for r in first])
    path = DOCS / "benchmarks" / f"{figure.slug}.svg"
    plots.draw(path, figure.title, figure.x_label, curves, matches, figure.log_x)
    return f"![{figure.title}](benchmarks/{path.name})"


def ablation(workload: str, n: int, results: Sequence[Result], picture: bool) -> str:
    """The table of an ablation, with a bar chart if `picture`."""
    parts = [f"### {workload}, {n:,} expressions", ablation_table(results)]
    if picture and plots.is_possible():
        measured = [result for result in results if "skipped" not in result]
        values = {result["engine"]: result["ratio_to_all_on"] for result in measured}
        path = DOCS / "benchmarks" / f"ablation-{workload}.svg"
        title = f"{workload}, {n:,} expressions"
        plots.bars(path, title, "time, as a multiple of everything on", values)
        parts.insert(1, f"![{title}](benchmarks/{path.name})")
    return "\n\n".join(parts)


def ablation_table(results: Sequence[Result]) -> str:
    """One line per variant of an ablation."""
    columns = (
        ("× everything on", "ratio_to_all_on"),
        ("µs per event", "match_us_median"),
        ("p99", "match_us_p99"),
        ("postings per event", "postings_per_event"),
        ("build s", "build_s"),
        ("bytes per expression", "bytes_per_expression"),
    )
    rows = []
    for result in results:
        if "skipped" in result:
            rows.append([result["engine"], f"skipped: {result['skipped']}"])
            continue
        rows.append([result["engine"], *(result[field] for _, field in columns)])
    return table(["variant", *(title for title, _ in columns)], rows)


def peer(measured: Sequence[tuple[Point, list[Result]]]) -> str:
    """The native core compared with the crate a-tree."""
    rows = []
    for point, results in measured:
        by_name = {result["engine"]: result for result in results}
        native, other = by_name["native"], by_name["a-tree"]
        row = [point.workload, point.n]
        if "skipped" in other or "skipped" in native:
            rows.append([*row, f"skipped: {other.get('skipped') or native['skipped']}"])
            continue
        row += [native["matches_per_event"]]
        row += [result["match_us_median"] for result in (native, other)]
        row += [times_faster(native, other)]
        row += [result["build_s"] for result in (native, other)]
        rows.append(row)
    header = ["workload", "n", "matches", "native µs", "a-tree µs", "times faster"]
    header += ["native build s", "a-tree build s"]
    return f"## The crate a-tree\n\n{_PEER}\n\n{table(header, rows)}"


def targets(found: Sequence[Target]) -> str:
    """The targets, and whether they are met."""
    rows = []
    for target in found:
        wanted = f"{'≥' if target.at_least else '≤'} {target.wanted:,g}"
        rows.append([target.what, target.got, wanted, "met" if target.met else "**missed**"])
    missed = sum(not target.met for target in found)
    summary = f"{len(found) - missed} of {len(found)} are met."
    return f"## Targets\n\n{summary}\n\n{table(['what', 'got', 'wanted', ''], rows)}"


_PEER = """The crate `a-tree` is the most similar public engine. Its language is smaller, so trees
are rewritten into it (`bench/native/src/peer.rs`); where that is impossible (`starts with`,
constants, `is null` on lists …) it is skipped. Its build is quadratic, so it gets at most 100,000
expressions."""
