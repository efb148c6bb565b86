"""`python -m spark compact`: the good rows of the log as Parquet, checked and typed.

In:   IMPRESSIONS/dt=…/hour=…/*.jsonl, the catalogue of the database
Out:  OUT/dt=…/*.parquet with the good rows of each day, in the place of what was there;
      malformed rows in QUARANTINE/dt=…
For:  jobs with `--format parquet`, and everybody else who reads columns
"""

import argparse
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import functions as F

from spark import database
from spark.commands.arguments import add_database, add_log, add_session, open_log, selected_days
from spark.commands.quarantine import INCOMPLETE, add_quarantine, set_aside
from spark.errors import NoImpressions
from spark.progress import Progress
from spark.session import session, set_shuffle_partitions
from spark.transforms.requests import daily, good_rows, quarantined
from spark.transforms.totals import problems_by_day


def add_to(commands: Any) -> None:
    parser = commands.add_parser("compact", help="write the good rows of a log as Parquet")
    add_log(parser, 1, "--format")
    add_database(parser)
    add_session(parser)
    add_quarantine(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="any Hadoop path")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, validate, write."""
    progress = Progress()
    schema = database.load_catalogue(options.database_url)
    with session(options.master, options.memory) as spark:
        spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        log = open_log(spark, options, schema)
        days = selected_days(options, log)
        set_shuffle_partitions(spark, log.size(days))
        progress.step("reading and validating")
        rows = log.checked(days).persist(StorageLevel.DISK_ONLY)
        good, bad = good_rows(rows), quarantined(rows)
        counted, problems = daily(good), problems_by_day(bad)
        for day in days:
            if day not in counted:
                malformed = sum(problems.get(day, {}).values())
                raise NoImpressions(f"{day} has no good row ({malformed} malformed)")
        progress.step("writing")
        columns = ("time", "request_id", "sample_rate", "attributes", "builtins")
        some = good.select(F.col("day").alias("dt"), *columns)
        some.write.mode("overwrite").partitionBy("dt").parquet(options.out)
        is_complete = set_aside(spark, bad, options, log, problems, days)
        rows.unpersist()
    total = sum(counted.values())
    print(f"{total:,} rows of {', '.join(days)} in {progress.seconds:.1f} s: {options.out}")
    return 0 if is_complete else INCOMPLETE
