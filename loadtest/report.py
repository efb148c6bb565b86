"""The report of a run: a folder with Locust's page, a summary, and the figures as JSON."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from loadtest.figures import Figures, Row
from testkit.markdown import table

PAGE, SUMMARY, FIGURES = "locust.html", "summary.md", "figures.json"

_HEAD = ["", "requests", "per second", "p50 ms", "p95 ms", "p99 ms", "longest ms", "errors"]


def write(figures: Figures, folder: Path) -> None:
    """Write the summary and the figures; Locust has written its page."""
    (folder / SUMMARY).write_text(summary(figures))
    (folder / FIGURES).write_text(json.dumps(to_json(figures), indent=2, default=str) + "\n")


def to_json(figures: Figures) -> dict[str, Any]:
    """The figures as plain data."""
    return {
        "plan": asdict(figures.plan),
        "machine": figures.machine,
        "passed": not figures.problems,
        "problems": figures.problems,
        "rows": [asdict(row) for row in figures.rows],
        "wrk_per_second": figures.wrk_rate,
        "locust_is_the_bottleneck": figures.locust_is_the_bottleneck,
        "locust_cores": figures.mean("locust"),
        "locust_wanted": figures.mean("wanted"),
        "server_cores": figures.mean("server"),
        "server_cpu_us": figures.server_cpu_us,
        "server_memory_bytes": figures.most("memory"),
        "lag_seconds_max": figures.most("lag_seconds"),
        "lag_revs_max": figures.most("lag_revs"),
        "answers_compared": figures.checked.compared,
        "answers_wrong": len(figures.checked.wrong),
        "digest": figures.digest,
        "change_bytes": figures.change_bytes and asdict(figures.change_bytes),
        "errors": figures.errors,
        "notes": figures.notes,
        "samples": [asdict(sample) for sample in figures.samples],
    }


def summary(figures: Figures) -> str:
    """One page of Markdown, with a table that is also readable as text."""
    plan = figures.plan
    lines = [
        f"# Load test: {plan.scenario_name}: {'FAILED' if figures.problems else 'passed'}",
        "",
        f"{plan.campaigns:,} campaigns, {plan.workers} workers, {plan.users} users, "
        f"{plan.seconds} s, {figures.machine['date']}, {figures.machine['cpu']}, load before "
        f"{figures.machine['load before']}.",
        "",
        *(f"**{problem}**" for problem in figures.problems),
        table(_HEAD, [_cells(row) for row in figures.rows]),
        "",
        *(f"- {fact}" for fact in _facts(figures)),
        "",
        f"    {plan.command}",
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    times = [_number(each) for each in (row.p50, row.p95, row.p99, row.longest)]
    return [row.kind, f"{row.count:,}", f"{row.per_second:,.1f}", *times, f"{row.wrong:,}"]


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == 0 or value >= 100 else f"{value:.3g}"


def _facts(figures: Figures) -> Iterable[str]:
    if figures.wrk_rate is not None:
        refused = f", {figures.wrk_refused:,} refused" if figures.wrk_refused else ""
        yield f"wrk on the same service: {figures.wrk_rate:,.0f} requests a second{refused}"
    yield from figures.warnings
    if not figures.locust_is_the_bottleneck:
        yield figures.bottleneck
    yield (
        f"service: {figures.mean('server'):.2f} cores, {figures.server_cpu_us:,.0f} µs of CPU per "
        f"request, {(figures.most('memory') or 0) / 1e6:,.0f} MB at most; whole machine "
        f"{figures.mean('machine'):.2f} cores, other processes {figures.mean('others'):.2f}"
    )
    yield f"feed lag: at most {_number(figures.most('lag_seconds'))} s"
    if figures.missed:
        yield f"{figures.missed} readings failed because the service did not answer /metrics"
    if sizes := figures.change_bytes:
        yield (
            f"a change of a campaign has {sizes.log:,.0f} bytes in the log, "
            f"{_number(sizes.stream)} in the stream"
        )
    yield figures.checked.summary
    yield f"at the end every worker has the database's digest, {figures.digest}"
    yield from figures.notes
    for what, count in sorted(figures.errors.items()):
        yield f"error: {what}: {count:,}"
