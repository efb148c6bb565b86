"""What the jobs that read a log do with its malformed rows."""

import argparse
import sys
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from spark.errors import SPARK_ERRORS, reason_of
from spark.impression_log import ImpressionLog
from spark.quarantine import FOLDER, write_quarantine

INCOMPLETE = 5
"""The exit code where the job did its work, but could not write the quarantine."""


def add_quarantine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--quarantine",
        metavar="DIR",
        help=f"directory for malformed rows (default: {FOLDER} in the log)",
    )


def set_aside(
    spark: SparkSession,
    bad: DataFrame,
    options: argparse.Namespace,
    log: ImpressionLog,
    problems: Mapping[str, Mapping[str, int]],
    days: list[str],
) -> bool:
    """Print the number of malformed rows by day and problem, and write them to the quarantine.
    Returns whether that worked."""
    for day, some in sorted(problems.items()):
        counts = ", ".join(f"{count:,} {problem}" for problem, count in sorted(some.items()))
        print(f"{day}: malformed rows: {counts}", file=sys.stderr)
    numbers = {day: sum(some.values()) for day, some in problems.items()}
    root = options.quarantine or log.directory.child(FOLDER).path
    try:
        written = write_quarantine(spark, bad, root, days, numbers)
    except SPARK_ERRORS as error:
        print(f"the malformed rows were not written to {root}: {reason_of(error)}", file=sys.stderr)
        return False
    for path in written:
        print(f"malformed rows are in {path}", file=sys.stderr)
    return True
