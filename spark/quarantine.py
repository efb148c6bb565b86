"""Where malformed rows go: JSON lines with what is wrong and what was read, day by day.

    QUARANTINE/dt=2026-11-16/rows=12-5f3a…/part-….json     {"problem": "no_time", "record": "{…"}

The directory is named after what is in it. So a second run writes the same one, and two runs at
once do not get into each other's files: each writes aside and renames.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark.directory import Directory
from spark.transforms.validation import PROBLEM, RECORD

FOLDER = "_quarantine"
"""Beside the days of the log, where readers of the log pass over it."""


def set_aside(
    spark: SparkSession, bad: DataFrame, root: str, days: Sequence[str], rows: Mapping[str, int]
) -> list[str]:
    """Write the rows of each day; the directories. `rows` says how many each day has; what an
    earlier run wrote for a day goes."""
    written = []
    for day in days:
        folder = Directory(spark, f"{root.rstrip('/')}/dt={day}")
        wanted = None
        if rows.get(day):
            some = bad.where(F.col("day") == day).select(PROBLEM, RECORD)
            wanted = f"rows={rows[day]}-{_digest(some)}"
            if wanted not in folder.names():
                unfinished = folder.aside()
                some.write.json(unfinished.path)
                unfinished.settle(folder.child(wanted))
            written.append(folder.child(wanted).path)
        for name in folder.names():
            if name != wanted and not name.startswith("_"):
                folder.child(name).remove()
    return written


def _digest(rows: DataFrame) -> str:
    """The same for the same rows in any order."""
    found = rows.agg(F.bit_xor(F.xxhash64(PROBLEM, RECORD)).alias("digest")).collect()[0]
    return f"{found['digest'] & (2**64 - 1):016x}"
