"""`python -m bench impressions`: writes days of impressions (`testkit/impressions.py`)."""

import argparse
from datetime import date, timedelta
from pathlib import Path

from testkit.arguments import positive
from testkit.impressions import write_day
from testkit.progress import Progress

_FIRST = date(2026, 11, 16)


def run(arguments: argparse.Namespace) -> None:
    """Write the days and print the total."""
    progress = Progress()
    total = 0
    for place in range(arguments.days):
        progress.show(f"{arguments.days} days", place, arguments.days)
        day = arguments.date + timedelta(days=place)
        total += write_day(
            arguments.out,
            day,
            arguments.rows,
            arguments.seed,
            arguments.sample_rate,
            even=arguments.days == 1,
        )
    progress.done()
    print(f"{total:,} impressions of {arguments.days} days in {arguments.out}")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Put `impressions` on the command line."""
    command = commands.add_parser("impressions", help="write days of impressions to files")
    command.add_argument("--rows", type=positive, default=200_000, help="rows per day, roughly")
    command.add_argument("--out", type=Path, required=True, metavar="DIR")
    command.add_argument("--date", type=date.fromisoformat, default=_FIRST, help="the first day")
    command.add_argument("--days", type=positive, default=1)
    command.add_argument("--sample-rate", type=float, default=1.0)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(run=run)
