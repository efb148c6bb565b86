"""Do forecasts come true? `python -m spark backtest` on days of the ads workload, one held out.

The days are those of `impressions.py`, of which none is like another; the campaigns are the
workload's first ones. Those that have enough hits in the sample are held to their bounds.
"""

import argparse
import asyncio
import sys
import tempfile
from datetime import date, timedelta
from itertools import islice
from pathlib import Path

import orjson

from index.language.json_form import from_json
from migrations.run import upgrade
from spark.commands import main
from testkit.arguments import positive
from testkit.database import declare, opened
from testkit.impressions import write_day
from testkit.progress import Progress
from testkit.workloads import make

_FIRST = date(2026, 11, 2)


def run(arguments: argparse.Namespace) -> None:
    """Make the days and the campaigns, and let the command speak."""
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
        schema, limits = (await store.catalogue()).schema, store.limits
    trees = (from_json(tree, schema, limits) for tree in islice(workload.expressions(), count))
    path.write_bytes(
        b"".join(
            orjson.dumps({"name": f"campaign {place}", "targeting": str(tree)}) + b"\n"
            for place, tree in enumerate(trees)
        )
    )


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `backtest` on the command line."""
    command = commands.add_parser("backtest", help="forecasts held against a day to come")
    command.add_argument("--rows", type=positive, default=50_000, help="a day, about")
    command.add_argument("--days", type=positive, default=7, help="before the one held out")
    command.add_argument("--campaigns", type=positive, default=3000, help="to choose from")
    command.add_argument("--take", type=positive, default=200)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=run)
