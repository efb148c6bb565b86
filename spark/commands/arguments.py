"""Arguments that several jobs share."""

import argparse
import os
from datetime import UTC, date, datetime, timedelta

from pyspark.sql import SparkSession

from index import Schema
from spark.errors import NoImpressions
from spark.impression_log import JSON, PARQUET, ImpressionLog
from spark.session import LOCAL, MEMORY


def add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--master",
        help="the Spark master, or sc://HOST for Spark Connect (default: the one that Spark is "
        f"configured with, otherwise {LOCAL})",
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


def add_log(
    parser: argparse.ArgumentParser, days: int = 1, *format_too: str, required: bool = True
) -> None:
    """`format_too` is a second name of `--log-format`."""
    where = parser.add_mutually_exclusive_group(required=required)
    where.add_argument("--impressions", metavar="DIR", help="the impression log, any Hadoop path")
    where.add_argument(
        "--table", metavar="NAME", help="a table with the log (Iceberg, Delta, Hive), with a dt"
    )
    parser.add_argument(
        "--log-format",
        *format_too,
        choices=(JSON, PARQUET),
        default=JSON,
        help="format of the files in --impressions (default: %(default)s)",
    )
    add_days(parser, days)


def open_log(spark: SparkSession, options: argparse.Namespace, schema: Schema) -> ImpressionLog:
    """The log that the arguments name."""
    path, table = options.impressions or "", options.table or ""
    return ImpressionLog(spark, schema, path, options.log_format, table)


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


def selected_days(options: argparse.Namespace, log: ImpressionLog) -> list[str]:
    """The days to read; raises `NoImpressions` if the log lacks one."""
    last: date = options.date or datetime.now(UTC).date() - timedelta(days=1)
    wanted = [str(last - timedelta(days=back)) for back in reversed(range(options.days))]
    there = log.days()
    missing = [day for day in wanted if day not in there]
    if missing:
        has = f"it has {there[0]} to {there[-1]}" if there else "it has no days"
        raise NoImpressions(f"{log.name} has no impressions of {', '.join(missing)}: {has}")
    return wanted
