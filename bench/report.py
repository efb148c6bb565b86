"""From measured points to `docs/benchmarks.md`, with the machine and the date beside them."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import plots
from bench.engines import Engine, make
from bench.engines.native import Native
from bench.figures import Figure, Point
from bench.measure import Result, measure
from bench.plots import Curve
from bench.progress import Progress
from bench.workloads.workload import Event, Workload
from index.language import Schema

DOCS = Path(__file__).parent.parent / "docs"

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
    """What this page is, where and when it was measured."""
    now = datetime.now(UTC)
    return f"""# Benchmarks

Printed by `{command}` on {now:%Y-%m-%d}. Machine: {machine()}.

Every engine runs in one process on one core, takes turns with the others round by round, and gives
the same answers, which is checked. *µs per event* is the engine's own time to find all ids, in
ascending order, into a buffer that it reuses: the median over the events of the median over the
rounds. *× flat* says how many times faster an engine is than `flat`, a tight scan over all
expressions in Rust, in the same run. *Inserts* are from JSON trees, one by one, at the end of the
build. How it is measured stands in `bench/measure.py`, the workloads in `bench/workloads/`.
"""


def machine() -> str:
    """Processor, cores, memory, versions."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        models[0] if models else platform.machine(),
        f"{os.cpu_count()} cores",
        f"{memory:.0f} GB",
        platform.system(),
        f"Python {platform.python_version()}",
    ]
    if rustc := shutil.which("rustc"):
        version = subprocess.run([rustc, "-V"], capture_output=True, text=True, check=False).stdout
        parts.append(" ".join(version.split()[:2]))
    return ", ".join(parts)


def overview(measured: Sequence[tuple[Point, list[Result]]]) -> str:
    """Every workload, every engine."""
    rows = []
    for point, results in measured:
        for result in results:
            if "skipped" in result:
                rows.append(
                    [point.workload, str(result["engine"]), f"skipped: {result['skipped']}"]
                )
                continue
            cells = [_cell(result[field]) for _, field in _COLUMNS]
            matches = _cell(result["matches_per_event"])
            rows.append(
                [point.workload, str(result["engine"]), _cell(result["n"]), matches, *cells]
            )
    header = ["workload", "engine", "n", "matches", *(title for title, _ in _COLUMNS)]
    return "## The workloads\n\n" + _table(header, rows)


def figure(figure: Figure, measured: Sequence[list[Result]], picture: bool) -> str:
    """A table, and if asked for a plot in `docs/benchmarks/`."""
    engines = [str(r["engine"]) for r in measured[0] if "skipped" not in r]
    by_engine = {
        name: [next(r for r in results if r["engine"] == name) for results in measured]
        for name in engines
    }
    header = [figure.x_label, "n", "matches"]
    for name in engines:
        header += [f"{name} µs", "p99"]
    header += [f"{name} × flat" for name in engines if name != "flat"]
    rows = []
    for place, point in enumerate(figure.points):
        ours = [by_engine[name][place] for name in engines]
        row = [_cell(point.x), _cell(ours[0]["n"]), _cell(ours[0]["matches_per_event"])]
        for result in ours:
            row += [_cell(result["match_us_median"]), _cell(result["match_us_p99"])]
        row += [_cell(r["ratio_to_flat"]) for r in ours if r["engine"] != "flat"]
        rows.append(row)
    title = f"## {figure.title}"
    source = f"\n\nRepeats figure {figure.source} of the thesis." if figure.source else ""
    parts = [f"{title}{source}", _table(header, rows)]
    if picture and plots.is_possible():
        parts.insert(1, _picture(figure, by_engine))
    return "\n\n".join(parts)


def _picture(figure: Figure, by_engine: dict[str, list[Result]]) -> str:
    x = [point.x for point in figure.points]
    curves = [Curve(name, x, _floats(rs, "match_us_median")) for name, rs in by_engine.items()]
    first = next(iter(by_engine.values()))
    matches = Curve("matches per event", x, _floats(first, "matches_per_event"))
    path = DOCS / "benchmarks" / f"{figure.slug}.svg"
    plots.draw(path, figure.title, figure.x_label, curves, matches, figure.log_x)
    return f"![{figure.title}](benchmarks/{path.name})"


def ablation(
    workload: Workload,
    n: int,
    events: int,
    variants: Sequence[tuple[str, dict[str, Any]]],
    progress: Progress,
) -> str:
    """A table of the native core with each of some options, the first being the default.

    `variants` are names with the keyword arguments of `Native`.
    """
    options = dict(variants)

    def make_variant(name: str, schema: Schema, seen: Sequence[Event]) -> Engine:
        if name not in options:
            return make(name, schema, seen)
        return Native(schema, **{"seen": seen, **options[name]})

    makers: Callable[..., Engine] = make_variant
    names = [*options, "flat"]
    results = measure(workload, n, events, names, progress=progress, make=makers)
    first = results[0].get("match_us_median")
    rows = []
    for result in results:
        if "skipped" in result:
            rows.append([str(result["engine"]), f"skipped: {result['skipped']}"])
            continue
        time = result["match_us_median"]
        slower = time / first if isinstance(time, float) and isinstance(first, float) else None
        cells = [_cell(result[field]) for _, field in _COLUMNS]
        rows.append([str(result["engine"]), _cell(slower and round(slower, 2)), *cells])
    return _table(["variant", "× the time of the first", *(t for t, _ in _COLUMNS)], rows)


def _floats(results: list[Result], field: str) -> list[float]:
    return [float(str(result[field])) for result in results]


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float) and (value >= 1000 or value == int(value)):
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    width = len(header)
    lines = [header, ["---"] + ["---:"] * (width - 1)]
    lines += [[*row, *[""] * (width - len(row))] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
