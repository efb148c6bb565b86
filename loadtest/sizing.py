"""Sizing: from measured unit costs to machines. It prints docs/scaling.md.

    python -m loadtest.sizing --requests-per-s 1e6 --campaigns 1e8     one table
    python -m loadtest.sizing --page                                   the whole page

The unit costs come from docs/benchmarks/measured.json, which names the command behind each; the
rest is multiplication, shown in each line of a table. The cost of a match grows with a power of the
campaigns; everything else is linear.
"""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from string import Template
from typing import Any

from testkit import ROOT

MEASURED = ROOT / "docs" / "benchmarks" / "measured.json"
_PAGE = Path(__file__).with_name("scaling.template")
_SECONDS_A_DAY = 86_400
_SPARK_CORES = 2

_results: dict[str, Any] = {
    name: each["result"] for name, each in json.loads(MEASURED.read_text()).items()
}
_HTTP, _SMALLER, _START, _SPARK = (
    _results[name] for name in ("http_1m", "http_100k", "start", "spark")
)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Unit costs and requirements."""

    requests_per_s: float = 1e6
    campaigns: float = 1e6
    shards: float = 1
    """Parts that the campaigns are divided into, each with its own workers."""

    visited: float = 1
    """Parts that a request must ask."""

    overhead_us: float = _HTTP["cpu_us"] - _HTTP["match_us"]
    """CPU of a request without the match."""

    match_us: float = _HTTP["match_us"]
    """CPU of a match among a million campaigns."""

    growth: float = round(
        math.log(_HTTP["match_us"] / _SMALLER["match_us"])
        / math.log(_HTTP["campaigns"] / _SMALLER["campaigns"]),
        2,
    )
    """The cost of a match grows with the campaigns to this power."""

    campaign_bytes: float = 1e6 * (_START["cold_peak_mb"] - _START["base_mb"]) / _START["campaigns"]
    """Memory of a worker per campaign."""

    worker_bytes: float = 1e6 * _START["base_mb"]
    """Memory of a worker without campaigns."""

    busy: float = 0.5
    """Average CPU use of a worker; the rest is for bursts."""

    cores: float = 32
    """Cores of a machine, with a worker on each."""

    writes_per_s: float = 100
    change_bytes: float = _results["change"]["stream"]
    impression_bytes: float = _results["impression"]["impression_bytes"]
    sample_rate: float = 0.01
    """Share of the requests that are logged."""

    spark_s: float = round(
        1e6
        * (_SPARK["seconds"][1] - _SPARK["seconds"][0])
        / (_SPARK["rows"][1] - _SPARK["rows"][0]),
        1,
    )
    """Seconds of the nightly job per further million impressions, on two cores."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure with its arithmetic."""

    what: str
    how: str
    result: str


def lines_of(costs: Costs) -> Iterator[Line]:
    """The table; each figure uses those before it."""
    c = costs
    each = c.campaigns / c.shards
    match = c.match_us * (each / 1e6) ** c.growth
    yield Line(
        "CPU of a match, µs",
        f"{c.match_us:g} × ({each / 1e6:g}M / 1M)^{c.growth:g}",
        f"{match:,.0f}",
    )
    request = c.visited * (c.overhead_us + match)
    yield Line(
        "CPU of a request, µs",
        f"{c.visited:g} × ({c.overhead_us:g} + {match:,.0f})",
        f"{request:,.0f}",
    )
    workers = c.requests_per_s * request / 1e6 / c.busy
    yield Line(
        "workers, one core each",
        f"{c.requests_per_s:,.0f} × {request:,.0f} µs / {c.busy:g}",
        f"{workers:,.0f}",
    )
    machines = math.ceil(workers / c.cores)
    yield Line("machines", f"{workers:,.0f} / {c.cores:g} cores", f"{machines:,}")
    memory = each * c.campaign_bytes + c.worker_bytes
    yield Line(
        "memory of a worker, GB",
        f"{each / 1e6:g}M × {c.campaign_bytes:g} B + {c.worker_bytes / 1e6:g} MB",
        f"{memory / 1e9:,.2f}",
    )
    yield Line(
        "memory of a machine, GB",
        f"{c.cores:g} × {memory / 1e9:,.2f}",
        f"{c.cores * memory / 1e9:,.0f}",
    )
    feed = c.writes_per_s / c.shards * c.change_bytes * workers
    yield Line(
        "feed to all workers, MB/s",
        f"{c.writes_per_s:g}/s / {c.shards:g} × {c.change_bytes:g} B × {workers:,.0f}",
        f"{feed / 1e6:,.1f}",
    )
    logged = c.requests_per_s * c.sample_rate * _SECONDS_A_DAY
    yield Line(
        "impressions per day, millions",
        f"{c.requests_per_s:,.0f} × {c.sample_rate:g} × {_SECONDS_A_DAY:,} s",
        f"{logged / 1e6:,.0f}",
    )
    yield Line(
        "their size in the object store, TB",
        f"{logged / 1e6:,.0f}M × {c.impression_bytes:g} B",
        f"{logged * c.impression_bytes / 1e12:,.2f}",
    )
    spark = logged / 1e6 * c.spark_s * _SPARK_CORES / 3600
    yield Line(
        "Spark per night, core hours",
        f"{logged / 1e6:,.0f} × {c.spark_s:g} s × {_SPARK_CORES} cores / 3,600",
        f"{spark:,.1f}",
    )


def table(costs: Costs) -> str:
    """The lines as Markdown."""
    rows = [f"| {line.what} | {line.how} | **{line.result}** |" for line in lines_of(costs)]
    return "\n".join(["| | | |", "|---|---|---:|", *rows])


def page() -> str:
    """docs/scaling.md."""
    million, every, some = (
        Costs(),
        Costs(campaigns=1e8, shards=50, visited=50),
        Costs(campaigns=1e8, shards=50, visited=3),
    )
    workers, memory = (
        next(line.result for line in lines_of(million) if line.what.startswith(what))
        for what in ("workers", "memory of a worker")
    )
    share = _results["growth"]["matches_per_event"] / _results["growth"]["n"]
    sent = _SMALLER["body_bytes"] + _SMALLER["answer_bytes"]
    whole = every.campaigns * every.campaign_bytes / 1e9
    return Template(_PAGE.read_text()).substitute(
        unit_costs=_unit_costs(million),
        million=table(million),
        every_part=table(every),
        some_parts=table(some),
        kilobytes=f"{sent / 1000:.1f}",
        gigabits=f"{million.requests_per_s * sent * 8 / 1e9:.0f}",
        writes=f"{_results['feed']['writes_per_second']:.0f}",
        workers=workers,
        memory=memory,
        connections=f"{7 * int(workers.replace(',', '')):,}",
        whole=f"{whole:.0f}",
        share=f"{share:.2%}",
        matches=f"{share * every.campaigns:,.0f}",
        regional=_regional(million),
    )


def _regional(c: Costs) -> str:
    """Routing algorithms between regions, as Markdown."""
    columns = ("algorithm", "matches", "crossings", "latency_ms", "busiest", "cpu_ms")
    rows = zip(*(_results["regions"][name] for name in columns), strict=True)
    header = "| | matches a request | messages between regions | latency, ms | busiest node "
    lines = [f"{header}| CPU of a request, ms | workers, one core each |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for algorithm, matches, crossings, latency, busiest, cpu in rows:
        workers = math.ceil(c.requests_per_s * cpu / 1000 / c.busy)
        cells = f"{matches:g} | {crossings:g} | {latency:g} | {busiest:.0%} | {cpu:g}"
        lines.append(f"| {algorithm} | {cells} | **{workers:,}** |")
    return "\n".join(lines)


def _unit_costs(c: Costs) -> str:
    rows = (
        ("CPU of a request without the match", f"{c.overhead_us:g} µs", "http_1m"),
        ("CPU of a match, a million campaigns", f"{c.match_us:g} µs", "http_1m"),
        ("its growth with the campaigns n", f"n^{c.growth:g}", "http_100k"),
        (
            "memory of a worker",
            f"{c.worker_bytes / 1e6:g} MB + {c.campaign_bytes:g} B per campaign",
            "start",
        ),
        ("bytes of a change in the stream", f"{c.change_bytes:g}", "change"),
        ("bytes of an impression", f"{c.impression_bytes:g}", "impression"),
        ("Spark, per further million impressions, two cores", f"{c.spark_s:g} s", "spark"),
    )
    sources = json.loads(MEASURED.read_text())
    lines = ["| | | measured by |", "|---|---:|---|"]
    for what, value, name in rows:
        source = sources[name]
        link = f" ([{source['page']}]({source['page']}))" if source["page"] else ""
        lines.append(f"| {what} | {value} | `{source['command']}`, {source['measured']}{link} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print one table, or the page."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.sizing", description=__doc__)
    parser.add_argument("--page", action="store_true", help="print docs/scaling.md")
    for each in fields(Costs):
        flag = f"--{each.name.replace('_', '-')}"
        parser.add_argument(flag, type=float, default=each.default, metavar="N")
    given = vars(parser.parse_args(arguments))
    print(page() if given.pop("page") else f"{table(Costs(**given))}\n", end="")


if __name__ == "__main__":
    main()
