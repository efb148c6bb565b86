"""The report on one page of text: what goes to the terminal, and beside the HTML as Markdown."""

from collections.abc import Iterable

from loadtest.figures import Figures
from loadtest.page import cells_of, known

_HEAD = ["", "requests", "a second", "p50 ms", "p95 ms", "p99 ms", "longest ms", "errors"]


def summary(figures: Figures) -> str:
    """Lines of Markdown, with a table that is readable as it is."""
    plan = figures.plan
    lines = [
        f"# Load test: {plan.scenario_name}: {'FAILED' if figures.problems else 'passed'}",
        "",
        f"{plan.campaigns:,} campaigns, {plan.workers} workers, {plan.users} users, "
        f"{plan.seconds} s, {figures.machine['date']}, {figures.machine['cpu']}, load before "
        f"{figures.machine['load before']}.",
        "",
        *(f"**{problem}**" for problem in figures.problems),
        *_table(figures),
        "",
        *(f"- {each}" for each in _facts(figures)),
        "",
        f"    {plan.command}",
    ]
    return "\n".join(lines) + "\n"


def _table(figures: Figures) -> list[str]:
    rows = [_HEAD, *(cells_of(row) for row in figures.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    drawn = [
        "| "
        + " | ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in rows
    ]
    rule = "|".join(
        "-" * (width + 1) + (":" if place else "-") for place, width in enumerate(widths)
    )
    return [drawn[0], f"|{rule}|", *drawn[1:]]


def _facts(figures: Figures) -> Iterable[str]:
    if figures.wrk_rate is not None:
        refused = f", {figures.wrk_refused:,} refused" if figures.wrk_refused else ""
        yield f"wrk on the same service: {figures.wrk_rate:,.0f} requests a second{refused}"
    yield from figures.warnings
    if not figures.locust_is_the_bottleneck:
        yield figures.bottleneck
    yield (
        f"service: {figures.server_cores:.2f} cores, {figures.server_cpu_us:,.0f} µs of CPU a "
        f"request, {figures.memory / 1e6:,.0f} MB at most; whole machine "
        f"{figures.machine_cores:.2f} cores, others {figures.other_cores:.2f}"
    )
    yield f"feed lag: {known(figures.lag_seconds)} s at most"
    yield figures.checked.told
    yield f"at the end every worker has the database's digest, {figures.digest}"
    yield from (note.rstrip(".") for note in figures.notes)
    for what, count in sorted(figures.errors.items()):
        yield f"error: {what}: {count:,}"
