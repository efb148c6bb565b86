"""`python -m spark compact`: the good rows of the log as Parquet, checked and typed.

In:   IMPRESSIONS/dt=…/hour=…/*.jsonl, the catalogue of the database
Out:  OUT/dt=…/*.parquet with the good rows of each day, in the place of what was there;
      malformed rows in QUARANTINE/dt=…
For:  jobs with `--format parquet`, and everybody else who reads columns
"""

import argparse
from typing import Any, NamedTuple

from pyspark.sql import Observation
from pyspark.sql import functions as F

from spark import database
from spark.columns import PROBLEM
from spark.commands.arguments import add_database, add_log, add_session, open_log, selected_days
from spark.commands.quarantine import INCOMPLETE, add_quarantine, set_aside
from spark.directory import Directory
from spark.errors import NoImpressions
from spark.impression_log import ImpressionLog
from spark.progress import Progress
from spark.session import session, set_shuffle_partitions
from spark.transforms.malformed import problems_by_day
from spark.transforms.requests import good_rows

_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4000",
    "spark.hadoop.parquet.block.size": str(32 * 2**20),
}
"""The JVM has the rows in columns of Arrow and of Parquet: smaller batches and row groups bound its
memory."""


def add_to(commands: Any) -> None:
    parser = commands.add_parser("compact", help="write the good rows of a log as Parquet")
    add_log(parser, 1, "--format")
    add_database(parser)
    add_session(parser)
    add_quarantine(parser)
    parser.add_argument("--out", required=True, metavar="DIR", help="any Hadoop path")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, validate, write. A day is replaced when all of them have been written."""
    progress = Progress()
    schema = database.load_catalogue(options.database_url)
    with session(options.master, options.memory, _SETTINGS) as spark:
        log, out = open_log(spark, options, schema), Directory(spark, options.out)
        out.recover()
        days = selected_days(options, log)
        set_shuffle_partitions(spark, log.size(days))
        progress.step("reading, validating and writing")
        unfinished = out.unfinished()
        try:
            rows = {day: _write(log, day, unfinished.child(f"dt={day}").path) for day in days}
            for day, written in rows.items():
                if not written.good:
                    raise NoImpressions(f"{day} has no good row ({written.bad} malformed)")
            for day in days:
                out.replace(f"dt={day}", unfinished.child(f"dt={day}"))
        finally:
            unfinished.remove()
        some = [day for day in days if rows[day].bad]
        if some:
            progress.step("reading the malformed rows")
        bad = log.malformed(some or days).persist()
        problems = problems_by_day(bad) if some else {}
        is_complete = set_aside(spark, bad, options, log, problems, days)
        bad.unpersist()
    total = sum(written.good for written in rows.values())
    print(f"{total:,} rows of {', '.join(days)} in {progress.seconds:.1f} s: {options.out}")
    return 0 if is_complete else INCOMPLETE


class _Rows(NamedTuple):
    """The number of good and of malformed rows."""

    good: int
    bad: int


def _write(log: ImpressionLog, day: str, path: str) -> _Rows:
    """Write the good rows of a day as they are read: they are neither kept nor sorted."""
    found = Observation()
    is_good = F.col(PROBLEM).isNull()
    rows = log.checked([day]).observe(
        found, F.count_if(is_good).alias("good"), F.count_if(~is_good).alias("bad")
    )
    columns = ("time", "request_id", "sample_rate", "attributes", "builtins")
    good_rows(rows).select(*columns).write.parquet(path)
    return _Rows(**found.get)
