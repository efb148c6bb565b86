"""From unit costs to machines: what so many requests a second and so many campaigns would take.

    python -m loadtest.sizing --overhead-us 84 --match-us 280 …

The unit costs are measured (docs/scaling.md names the commands); the rest is multiplication, and
each line of the table shows its own. Times grow with the campaigns of an index as the growth of the
ads workload does; everything else is linear.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

SECONDS_A_DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Unit costs, and what is wanted."""

    requests_per_s: float = 1e6
    campaigns: float = 1e6
    shards: float = 1
    """Parts that the campaigns are divided into, each served by workers of its own."""

    visited: float = 1
    """Parts that a request has to ask."""

    overhead_us: float = 84
    """CPU of a request but for the match: HTTP, reading, answering."""

    match_us: float = 280
    """CPU of a match in an index of a million campaigns."""

    growth: float = 0.79
    """The match takes n to this power as long with n times as many campaigns."""

    campaign_bytes: float = 608
    """Memory of a worker for a campaign."""

    worker_bytes: float = 54e6
    """Memory of a worker without any."""

    busy: float = 0.5
    """The share of its CPU that a worker may use on the average: the rest is for bursts."""

    cores: float = 32
    """Of a machine; a worker each."""

    writes_per_s: float = 100
    change_bytes: float = 310
    impression_bytes: float = 770
    sample_rate: float = 0.01
    """The share of requests that are logged."""

    spark_s: float = 92
    """Seconds of the nightly job for a million impressions, on two cores."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure, with its arithmetic."""

    what: str
    how: str
    result: str


def lines_of(costs: Costs) -> Iterator[Line]:
    """The table, in the order in which each figure needs those before it."""
    c = costs
    each = c.campaigns / c.shards
    match = c.match_us * (each / 1e6) ** c.growth
    yield Line(
        "a match, µs",
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
        "workers, a core each",
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
    logged = c.requests_per_s * c.sample_rate * SECONDS_A_DAY
    yield Line(
        "impressions a day, millions",
        f"{c.requests_per_s:,.0f} × {c.sample_rate:g} × {SECONDS_A_DAY:,} s",
        f"{logged / 1e6:,.0f}",
    )
    yield Line(
        "… in the object store, TB",
        f"{logged / 1e6:,.0f}M × {c.impression_bytes:g} B",
        f"{logged * c.impression_bytes / 1e12:,.2f}",
    )
    spark = logged / 1e6 * c.spark_s * 2 / 3600
    yield Line(
        "Spark each night, core hours",
        f"{logged / 1e6:,.0f} × {c.spark_s:g} s × 2 cores / 3,600",
        f"{spark:,.1f}",
    )


def table(costs: Costs) -> str:
    """Markdown."""
    rows = [f"| {line.what} | {line.how} | **{line.result}** |" for line in lines_of(costs)]
    return "\n".join(["| | | |", "|---|---|---:|", *rows])


def main(arguments: list[str] | None = None) -> None:
    """Print the table for the costs of the command line."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.sizing", description=__doc__)
    for each in fields(Costs):
        flag = f"--{each.name.replace('_', '-')}"
        parser.add_argument(flag, type=float, default=each.default, metavar="N")
    print(table(Costs(**vars(parser.parse_args(arguments)))))


if __name__ == "__main__":
    main()
