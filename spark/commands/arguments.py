"""Arguments that several jobs share."""

import argparse
import os
from datetime import UTC, date, datetime, timedelta

from spark.directory import Directory
from spark.errors import NoImpressions
from spark.session import MASTER, MEMORY


def add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--master", help=f"the Spark master (default: {MASTER}, or that of spark-submit)"
    )
    parser.add_argument(
        "--memory", default=MEMORY, help="memory of a local Spark (default: %(default)s)"
    )


def add_database(parser: argparse.ArgumentParser) -> None:
    known = os.environ.get("COPSE_DATABASE_URL")
    parser.add_argument(
        "--database-url",
        default=known,
        required=known is None,
        metavar="URL",
        help="the service's database (default: COPSE_DATABASE_URL)",
    )


def add_log(parser: argparse.ArgumentParser, days: int = 1) -> None:
    parser.add_argument(
        "--impressions", required=True, metavar="DIR", help="the impression log, any Hadoop path"
    )
    add_days(parser, days)


def add_days(parser: argparse.ArgumentParser, days: int = 1) -> None:
    parser.add_argument(
        "--date", type=date.fromisoformat, help="the last day to read (default: yesterday, in UTC)"
    )
    parser.add_argument(
        "--days", type=positive, default=days, help="number of days (default: %(default)s)"
    )


def positive(text: str) -> int:
    """An integer above zero."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not above zero")
    return value


def selected_days(options: argparse.Namespace, log: Directory) -> list[str]:
    """The days to read; raises `NoImpressions` if the log lacks one."""
    last: date = options.date or datetime.now(UTC).date() - timedelta(days=1)
    wanted = [str(last - timedelta(days=back)) for back in reversed(range(options.days))]
    if not log.exists():
        raise NoImpressions(f"the directory {log.path} does not exist")
    there = log.days()
    missing = [day for day in wanted if day not in there]
    if missing:
        has = f"it has {there[0]} to {there[-1]}" if there else "it has no days"
        raise NoImpressions(f"{log.path} has no impressions of {', '.join(missing)}: {has}")
    return wanted
