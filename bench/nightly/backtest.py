"""Accuracy of forecasts: `python -m spark backtest` on generated days of the ads workload.

The days come from `testkit/impressions.py`, and all differ; the last one is held out. The campaigns
are the first ones of the workload. Those with enough hits in the sample are checked against their
forecast bounds.
"""

import argparse
import asyncio
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path

import orjson

from migrations.run import upgrade
from testkit.arguments import positive
from testkit.database import declare, opened
from testkit.impressions import write_day
from testkit.progress import Progress
from testkit.workloads import make

_FIRST = date(2026, 11, 2)


def run(arguments: argparse.Namespace) -> None:
    """Generate the days and the campaigns, and run the command."""
    from spark.commands import main  # noqa: PLC0415 (`python -m bench --help` needs no Spark)

    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="copse-") as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'copse.sqlite3'}"
        upgrade(url)
        asyncio.run(_propose(url, arguments.campaigns, folder / "campaigns.jsonl"))
        for place in range(arguments.days + 1):
            progress.show("making days", place, arguments.days + 1)
            day = _FIRST + timedelta(days=place)
            write_day(folder / "impressions", day, arguments.rows, arguments.seed)
        progress.done()
        log = ["--impressions", str(folder / "impressions"), "--database-url", url]
        more = ["--campaigns", str(folder / "campaigns.jsonl"), "--take", str(arguments.take)]
        sys.exit(main(["backtest", *log, "--days", str(arguments.days), *more]))


async def _propose(url: str, count: int, path: Path) -> None:
    workload = make("ads")
    async with opened(url) as store:
        await declare(store, workload)
    path.write_bytes(
        b"".join(
            orjson.dumps({"name": f"campaign {place}", "targeting": text}) + b"\n"
            for place, text in enumerate(workload.texts(count))
        )
    )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `backtest` on the command line."""
    command = commands.add_parser("backtest", help="forecasts compared with a later day")
    command.add_argument("--rows", type=positive, default=50_000, help="rows per day, roughly")
    command.add_argument("--days", type=positive, default=7, help="days before the one held out")
    command.add_argument(
        "--campaigns", type=positive, default=3000, help="campaigns to choose from"
    )
    command.add_argument("--take", type=positive, default=200)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=run)
