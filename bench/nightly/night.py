"""One night: serve and log requests, count them with Spark, activate the statistics, match faster.

    service with a log                     serves requests, without statistics
    python -m spark selectivity            reads the log, creates and activates a version
    another service, running meanwhile     measured before and after, with new requests

In this process three indexes have the same campaigns: one knows only the ranking of operators (its
own counting is off), one counts by itself, one has the version's document. The number of postings
that an event touches is the same on every machine.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench.index.engines.native import Native
from bench.papers import plots, report
from campaigns.catalogue.model import schema_of
from campaigns.statistics import service as statistics
from campaigns.statistics.document import for_index
from testkit.arguments import positive
from testkit.client import Client, match_bodies
from testkit.database import opened
from testkit.local_index import rows_of
from testkit.markdown import table
from testkit.progress import Progress
from testkit.service import NotServing, Server, service
from testkit.stage import Stage, stage
from testkit.workloads.workload import Event

BATCH = 100
ASKED = 1000
ROUNDS = 5
ARRIVE_SECONDS = 300
WANTED = 1.5
"""Target: this many times fewer postings than with the ranking of operators."""

PICTURE = report.DOCS / "benchmarks" / "nightly.svg"
PAGE = report.DOCS / "benchmarks-nightly.md"


@dataclass(frozen=True)
class Row:
    """The cost of a match, by what the index knows."""

    knows: str
    median_us: float
    postings: float
    service_us: float | None = None
    """The mean of the service's own metric."""


def measure(campaigns: int, requests: int, progress: Progress) -> tuple[list[Row], str]:
    """The rows of the table, and the job's last output."""
    with stage(campaigns, progress) as staged:
        progress.show("making requests", 0, 1)
        events = staged.workload.events(requests + ASKED)
        asked = events[requests:]
        log = staged.directory / "impressions"
        logging = {"impressions_dir": log, "impression_sample_rate": 1}
        with service("service, impressions", staged.url, campaigns, **logging) as server:
            _serve(server, staged, events[:requests], progress)
        with service("service", staged.url, campaigns) as server:
            before = _ask(server, staged, asked)
            progress.show("the job", 0, 1)
            output = _job(log, staged)
            _wait_for_statistics(server, staged)
            after = _ask(server, staged, asked)
        progress.show("indexes in this process", 0, 1)
        rows = _compare(staged, events[:requests], asked)
    progress.done()
    return [
        rows[0],
        Row(rows[1].knows, rows[1].median_us, rows[1].postings, before),
        Row(rows[2].knows, rows[2].median_us, rows[2].postings, after),
    ], output


def _serve(server: Server, staged: Stage, events: Sequence[Event], progress: Progress) -> None:
    with Client(server.port, staged.token, timeout=60) as client:
        for first in range(0, len(events), BATCH):
            progress.show(f"serving {len(events):,} requests", first, len(events))
            some = [{"attributes": event} for event in events[first : first + BATCH]]
            answer = client.send("POST", "/v1/match/batch", {"requests": some})
            while answer.status == 503:
                answer = client.send("POST", "/v1/match/batch", {"requests": some})
            if answer.status != 200:
                raise NotServing(f"POST /v1/match/batch: {answer.status} {answer.body.decode()}")
    # A thread writes the log after the answers were sent.
    deadline = time.monotonic() + ARRIVE_SECONDS
    while server.metrics().get("copse_impressions_written_total", 0.0) < len(events):
        lost = server.metrics().get("copse_impressions_lost_total", 0.0)
        if lost or time.monotonic() > deadline:
            raise NotServing(f"{lost:.0f} impressions were lost, or they are not written")
        time.sleep(0.2)


def _ask(server: Server, staged: Stage, events: Sequence[Event]) -> float:
    """Mean microseconds of a match, by the service's metric."""
    bodies = match_bodies(events)
    server.post(bodies, staged.token)
    began = server.metrics()
    server.post(bodies, staged.token)
    ended = server.metrics()
    name = "copse_match_duration_seconds"
    total, count = (ended[f"{name}_{what}"] - began[f"{name}_{what}"] for what in ("sum", "count"))
    return 1e6 * total / count


def _job(log: Path, staged: Stage) -> str:
    days = sorted(path.name.removeprefix("dt=") for path in log.glob("dt=*"))
    window = ["--date", days[-1], "--days", str(len(days))]
    where = ["--impressions", str(log), "--database-url", staged.url]
    return run_job(["selectivity", *where, *window])


def run_job(arguments: Sequence[str]) -> str:
    """Run a job in its own process; returns its output."""
    done = subprocess.run(
        [sys.executable, "-m", "spark", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise NotServing(f"the job failed with {done.returncode}:\n{done.stderr}")
    return done.stdout.strip()


def _wait_for_statistics(server: Server, staged: Stage) -> None:
    deadline = time.monotonic() + ARRIVE_SECONDS
    while time.monotonic() < deadline:
        used = server.workers(staged.token)[0]["statistics"]
        if used and used["id"] is not None and used["id"] == used["wanted_id"]:
            return
        time.sleep(0.2)
    raise NotServing("the service does not use the new statistics")


def _compare(staged: Stage, seen: Sequence[Event], asked: Sequence[Event]) -> list[Row]:
    types = [(attribute.name, attribute.type.value) for attribute in staged.workload.schema]
    schema = schema_of(types)
    items = [
        (row[0], row[1].decode() if isinstance(row[1], bytes) else row[1])
        for row in asyncio.run(rows_of(staged.url))
    ]
    document = for_index(asyncio.run(_document(staged.url)))
    engines = {
        "the ranking of operators": Native(schema, tuning={"counting": 0}),
        "what it counts itself": Native(schema, seen=seen[:20_000], knows="counting"),
        "the night's statistics": Native(schema, document=document),
    }
    answers = []
    times: dict[str, list[float]] = {name: [] for name in engines}
    for engine in engines.values():
        engine.build(items)
        engine.match_ns(asked)
        answers.append(engine.answers(asked))
    if any(answer != answers[0] for answer in answers):
        raise NotServing("the indexes disagree")
    for _ in range(ROUNDS):
        for name, engine in engines.items():
            times[name].append(median(engine.match_ns(asked)) / 1000)
    return [
        Row(name, median(times[name]), sum(touched) / len(touched))
        for name, engine in engines.items()
        if (touched := engine.touched(asked))
    ]


async def _document(url: str) -> dict[str, Any]:
    async with opened(url) as store:
        version = await statistics.active(store)
        if version is None:
            raise NotServing("no statistics are active")
        return await statistics.document(store, version.id)


def described(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    header = ["the index knows", "µs a match (median)", "postings an event", "fewer", "service, µs"]
    cells = []
    for row in rows:
        fewer = f"{rows[0].postings / row.postings:.2f} ×"
        served = "" if row.service_us is None else f"{row.service_us:.1f}"
        cells.append([row.knows, f"{row.median_us:.1f}", round(row.postings), fewer, served])
    return table(header, cells)


def run(arguments: argparse.Namespace) -> None:
    """Measure, print, and write the page with `--write`."""
    rows, output = measure(arguments.campaigns, arguments.requests, Progress())
    print(f"{described(rows)}\n\n{output}")
    fewer = rows[0].postings / rows[-1].postings
    met = "met" if fewer >= WANTED else "MISSED"
    print(f"{fewer:.2f} times fewer postings than with the ranking, target {WANTED}: {met}")
    if arguments.write:
        _write(arguments, rows, output)
    if fewer < WANTED:
        sys.exit(1)


def _write(arguments: argparse.Namespace, rows: Sequence[Row], output: str) -> None:
    picture = ""
    if plots.is_possible():
        postings = {row.knows: row.postings for row in rows}
        plots.bars(PICTURE, "postings touched by an event", "postings", postings)
        picture = f"\n![postings touched by an event](benchmarks/{PICTURE.name})\n"
    less = 1 - rows[-1].postings / rows[1].postings
    command = (
        f"python -m bench nightly --campaigns {arguments.campaigns} "
        f"--requests {arguments.requests} --write"
    )
    PAGE.write_text(
        f"""# What a night of statistics brings

Printed by `{command}` on {datetime.now(UTC):%Y-%m-%d}. Machine: {report.machine()}.

The service serves and logs {arguments.requests:,} requests of the ads workload over HTTP, with
{arguments.campaigns:,} campaigns and no statistics. The job counts the log and activates its
version while another service keeps running. Then {ASKED:,} new requests are matched. Postings and
medians are those of three indexes in one process, which take turns and give the same answers; the
last column is the mean of the service's own metric, before and after.

{described(rows)}
{picture}
**What a night brings beyond the index's own counting.** An index counts what it sees and plans by
that, without any job. Against such an index the statistics brought {less:.1%} fewer postings here.
On traffic of another shape, in a trial with 300,000 requests, it was 1 to 2 %. So run the job for
forecasts, for drift and for indexes that have just started; a service that has been running for
hours gains little speed from it. The large factor is the one against the bare ranking of operators.

The job makes one pass over the log (`docs/decisions/0021-one-pass.md`); `docs/spark.md` has its
cost and how it is scheduled.

The job: `{output}`
"""
    )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `nightly` on the command line."""
    command = commands.add_parser("nightly", help="serve, log, count with Spark, activate, compare")
    command.add_argument("--campaigns", type=positive, default=100_000)
    command.add_argument("--requests", type=positive, default=200_000)
    command.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    command.set_defaults(run=run)
