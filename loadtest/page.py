"""The report as one page of HTML, which needs nothing else: the figures, then plots over time."""

from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from string import Template

from loadtest.charts import Line, Point, chart, shown
from loadtest.figures import Figures, Row, Second
from loadtest.watching import Look

_TEMPLATE = Path(__file__).with_name("page.html")


def page(figures: Figures) -> str:
    """The whole page."""
    plan = figures.plan
    return Template(_TEMPLATE.read_text()).substitute(
        title=escape(f"Load test: {plan.scenario_name}"),
        about=escape(_about(figures)),
        verdict=_verdict(figures),
        notes="".join(_notes(figures)),
        cards="".join(_card(*each) for each in _cards(figures)),
        plots="".join(_plots(figures)),
        table=_table(figures.rows),
        facts="".join(
            f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in _facts(figures)
        ),
    )


def _about(figures: Figures) -> str:
    plan = figures.plan
    return (
        f"{plan.scenario.about[0].upper()}{plan.scenario.about[1:]}. {plan.campaigns:,} campaigns, "
        f"{plan.workers} workers, {plan.users} users for {plan.seconds} seconds, "
        f"{figures.machine['date']}."
    )


def _verdict(figures: Figures) -> str:
    if figures.problems:
        return '<div class="verdict failed">Failed</div>'
    return '<div class="verdict">Passed</div>'


def _notes(figures: Figures) -> Iterable[str]:
    for problem in figures.problems:
        yield f'<p class="note bad">{escape(problem)}.</p>'
    for warning in figures.warnings:
        yield f'<p class="note warn">{escape(warning)}</p>'
    quiet = [] if figures.locust_is_the_bottleneck else [figures.bottleneck]
    for note in [*quiet, *figures.notes]:
        yield f'<p class="note">{escape(note)}</p>'


def _cards(figures: Figures) -> Iterable[tuple[str, str, str]]:
    every, main = figures.all, figures.main
    yield "Throughput", f"{every.per_second:,.0f}", "requests/s"
    yield "With wrk", "–" if figures.wrk_rate is None else f"{figures.wrk_rate:,.0f}", "matches/s"
    for name, value in (
        ("p50", main.p50),
        ("p95", main.p95),
        ("p99", main.p99),
        ("longest", main.longest),
    ):
        yield f"{main.kind.capitalize()}, {name}", milliseconds(value), "ms"
    yield "Errors", f"{every.wrong:,}", f"of {every.count:,}"
    yield "Service CPU", f"{figures.server_cores:.2f}", "cores"
    yield "CPU a request", f"{figures.server_cpu_us:,.0f}", "µs"
    yield "Service memory", f"{figures.memory / 1e6:,.0f}", "MB at most"
    yield "Feed lag", known(figures.lag_seconds), "s at most"
    yield "Answers checked", f"{figures.checked.compared:,}", f"{len(figures.checked.wrong)} wrong"


def _card(name: str, value: str, unit: str) -> str:
    return (
        f'<div class="card"><span>{escape(name)}</span><b>{value}</b> '
        f"<small>{escape(unit)}</small></div>"
    )


def _plots(figures: Figures) -> Iterable[str]:
    seconds, plan = figures.seconds, figures.plan
    marks = [(mark.at, mark.label) for mark in figures.marks]

    def plot(title: str, unit: str, *lines: Line, logarithmic: bool = False) -> str:
        return chart(title, unit, lines, plan.seconds, marks, logarithmic)

    def looked(value: Callable[[Look], float | None]) -> list[Point]:
        found = ((at - 0.5, value(look)) for at, look in figures.looks)
        return [(at, each) for at, each in found if each is not None]

    def timed(value: Callable[[Second], float | None]) -> list[Point]:
        found = ((second.at + 0.5, value(second)) for second in seconds)
        return [(at, each) for at, each in found if each is not None]

    yield plot(
        "Throughput",
        "requests/s",
        Line("matches", _some(timed(lambda second: second.asked)), True),
        Line("writes", _some(timed(lambda second: second.written)), True),
    )
    yield plot(
        "Latency",
        "ms, logarithmic",
        Line("match p50", timed(lambda second: second.p50)),
        Line("p95", timed(lambda second: second.p95)),
        Line("p99", timed(lambda second: second.p99)),
        Line("write p50", timed(lambda second: second.write_p50)),
        Line("p95", timed(lambda second: second.write_p95)),
        logarithmic=True,
    )
    yield plot(
        "CPU",
        "cores",
        Line("service", looked(lambda look: look.server)),
        Line("Locust's busiest process", looked(lambda look: look.locust)),
        Line("everything else", looked(lambda look: look.others), colour=5),
    )
    yield plot("Memory of the service", "MB", Line("all workers", looked(_megabytes), True))
    yield plot("Feed lag", "s", Line("worst worker", looked(lambda look: look.lag_seconds), True))
    yield plot(
        "Errors", "a second", Line("errors", timed(lambda second: second.wrong), True, colour=2)
    )


def _some(points: list[Point]) -> list[Point]:
    """Nothing, if it is nothing all the time."""
    return points if any(y for _, y in points) else []


def _megabytes(look: Look) -> float:
    return look.memory / 1e6


def _table(rows: Iterable[Row]) -> str:
    head = ("", "requests", "a second", "p50 ms", "p95 ms", "p99 ms", "longest ms", "errors")
    cells = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells_of(row)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def cells_of(row: Row) -> list[str]:
    """A row of the table, here and in the summary."""
    times = [milliseconds(each) for each in (row.p50, row.p95, row.p99, row.longest)]
    return [row.kind, f"{row.count:,}", f"{row.per_second:,.1f}", *times, f"{row.wrong:,}"]


def _facts(figures: Figures) -> Iterable[tuple[str, str]]:
    yield "command", f"<code>{escape(figures.plan.command)}</code>"
    for name, value in figures.machine.items():
        yield name, escape(value)
    busy = f"{figures.machine_cores:.2f} cores busy, {figures.other_cores:.2f} with something else"
    yield "whole machine, mean", busy
    share = figures.matches_per_second / figures.all.per_second if figures.all.count else 0.0
    yield "matches", f"{share:.1%} of all requests"
    yield "Postgres and Redis", "of the run's own, on the same machine, with fsync on"
    yield "answers", escape(figures.checked.told)
    yield "at the end", escape(f"every worker has the database's digest, {figures.digest}")
    if figures.lag_revs is not None:
        yield "lag in changes, at most", f"{figures.lag_revs:,.0f}"
    if figures.unheard:
        yield "no metrics", f"{figures.unheard} times the service did not answer /metrics"
    for what, count in sorted(figures.errors.items()):
        yield escape(f"error: {what}"), f"{count:,}"


def milliseconds(value: float | None) -> str:
    """Milliseconds as they are shown."""
    return "–" if value is None else shown(value)


def known(value: float | None) -> str:
    """Seconds as they are shown, or that nobody knows."""
    return "–" if value is None else f"{value:.2f}"
