"""`python -m bench job`: what the nightly job costs, beside DuckDB on one machine.

One day of the ads workload, as JSON lines and as Parquet that `spark compact` made of it. Each
command runs in processes of its own, one after the other: seconds, CPU seconds and the greatest
memory of all of them together, the start of Python and of the JVM included. DuckDB computes the
same figures (`duck.py`), which are compared with the job's; it does not validate.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from campaigns.campaign.service import activate, create
from campaigns.statistics import service as statistics
from index.language.json_form import from_json
from migrations.run import upgrade
from testkit import ROOT, Failed
from testkit.arguments import positive
from testkit.database import declare, opened
from testkit.impressions import write_day
from testkit.machine import description
from testkit.markdown import table
from testkit.processes import family_of, share_of_memory, use_of
from testkit.progress import Progress
from testkit.workloads import make

DAY = date(2026, 11, 16)
CAMPAIGNS = 300
_PAUSE = 0.2


@dataclass(frozen=True)
class Cost:
    """What a command took, with all its child processes."""

    seconds: float
    cpu: float
    memory: int


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command of Python and watch it."""
    started, cpu, memory = time.monotonic(), dict[int, float](), 0
    with tempfile.TemporaryFile() as output:
        running = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
        while running.poll() is None:
            family = family_of(running.pid)
            used = {pid: use_of(pid) for pid in family}
            cpu |= {pid: each.cpu for pid, each in used.items() if each}
            memory = max(memory, sum(map(share_of_memory, family)))
            time.sleep(_PAUSE)
        if running.returncode:
            output.seek(0)
            raise Failed(f"{' '.join(command)} failed:\n{output.read().decode()}")
    return Cost(time.monotonic() - started, sum(cpu.values()), memory)


def measure(rows: int, folder: Path, progress: Progress) -> dict[str, Cost]:
    """The cost of each way to the figures of a day, by name."""
    url, log, parquet = f"sqlite:///{folder / 'copse.sqlite3'}", folder / "log", folder / "parquet"
    upgrade(url)
    asyncio.run(_fill(url))
    progress.show("writing the day", 0, 1)
    write_day(log, DAY, rows, even=True)
    day = ["--database-url", url, "--date", str(DAY)]
    job = ["-m", "spark", "selectivity", *day, "--no-activate"]
    compact = ["-m", "spark", "compact", *day, "--impressions", str(log), "--out", str(parquet)]
    duck = ["-m", "bench.nightly.duck"]
    costs: dict[str, Cost] = {}
    found = folder / "figures.json"
    for name, command in {
        "the job, JSON lines": [*job, "--impressions", str(log)],
        "compact, JSON lines to Parquet": compact,
        "the job, Parquet": [*job, "--impressions", str(parquet), "--format", "parquet"],
        "DuckDB, JSON lines": [*duck, "json", f"{log}/dt=*/hour=*/*.jsonl", url, str(found)],
        "DuckDB, Parquet": [*duck, "parquet", f"{parquet}/dt=*/*.parquet", url, str(found)],
    }.items():
        progress.show(name, len(costs), 5)
        costs[name] = cost_of(command)
        if name.startswith("DuckDB") and not _same_figures(
            json.loads(found.read_bytes()), asyncio.run(_document(url))
        ):
            raise Failed(f"{name}: other figures than the job's")
    progress.done()
    return costs


def _same_figures(found: dict[str, Any], document: dict[str, Any]) -> bool:
    """Whether a document of the job has the same figures."""
    for name, about in document["attributes"].items():
        common = about["elements"] if "elements" in about else about["values"]
        other = found["attributes"][name]
        if (about["presence"], about["distinct"], common, about.get("histogram")) != (
            other["presence"],
            other["distinct"],
            other["common"],
            other.get("histogram"),
        ):
            return False
    return bool(found["rows"] == document["rows"])


async def _fill(url: str) -> None:
    workload = make("ads")
    async with opened(url) as store:
        advertisers = await declare(store, workload)
        schema = (await store.catalogue()).schema
        for number, tree in enumerate(islice(workload.expressions(), CAMPAIGNS)):
            fields = {
                "name": f"campaign {number}",
                "advertiser_id": advertisers[0],
                "targeting": str(from_json(tree, schema, store.limits)),
            }
            made = await create(store, "bench", fields)
            await activate(store, "bench", made.id)


async def _document(url: str) -> dict[str, Any]:
    async with opened(url) as store:
        versions = (await statistics.page(store)).items
        if len(versions) != 1:
            raise Failed("JSON lines and Parquet gave other statistics")
        return await statistics.document(store, versions[0].id)


def run(arguments: argparse.Namespace) -> None:
    """Measure each number of rows and print a table."""
    print(f"{description()}, {date.today()}\n")
    cells = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory(prefix="copse-") as folder:
            costs = measure(rows, Path(folder), Progress())
        for name, cost in costs.items():
            gigabytes = f"{cost.memory / 2**30:.1f}"
            cells.append([f"{rows:,}", name, round(cost.seconds), round(cost.cpu), gigabytes])
    print(table(["rows", "", "seconds", "CPU seconds", "GB"], cells))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `job` on the command line."""
    command = commands.add_parser("job", help="time and memory of the nightly job, beside DuckDB")
    command.add_argument("--rows", type=positive, nargs="+", default=[1_000_000])
    command.set_defaults(run=run)
