"""Stores malformed rows: JSON lines with the problem and the text of the row, day by day.

    QUARANTINE/dt=2026-11-16/rows=12-5f3a…/part-….json     {"problem": "no_time", "record": "{…"}

The directory's name is a digest of its rows. So a second run finds the same directory, and two
runs at once do not mix their files: each writes to a directory of its own and renames it.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark.columns import PROBLEM, RECORD
from spark.directory import Directory
from spark.session import is_remote

FOLDER = "_quarantine"
"""The default, in the directory of the log; readers of the log skip it."""


def write_quarantine(
    spark: SparkSession, bad: DataFrame, root: str, days: Sequence[str], rows: Mapping[str, int]
) -> list[str]:
    """Write the bad rows of each day and return the directories. `rows` has the number of bad rows
    by day. What an earlier run wrote for a day is removed. Spark Connect cannot rename, so there a
    day's rows are overwritten in place."""
    if is_remote(spark):
        return [_overwritten(bad, root, day) for day in days if rows.get(day)]
    written = []
    for day in days:
        folder = Directory(spark, f"{root.rstrip('/')}/dt={day}")
        wanted = None
        if rows.get(day):
            # Persisted: the digest and the file take one pass over the log instead of two.
            some = bad.where(F.col("day") == day).select(PROBLEM, RECORD).persist()
            wanted = f"rows={rows[day]}-{_digest(some)}"
            if wanted not in folder.names():
                unfinished = folder.unfinished()
                some.write.json(unfinished.path)
                unfinished.rename(folder.child(wanted))
            some.unpersist()
            written.append(folder.child(wanted).path)
        for name in folder.names():
            if name != wanted and not name.startswith("_"):
                folder.child(name).remove()
    return written


def _overwritten(bad: DataFrame, root: str, day: str) -> str:
    path = f"{root.rstrip('/')}/dt={day}"
    bad.where(F.col("day") == day).select(PROBLEM, RECORD).write.mode("overwrite").json(path)
    return path


def _digest(rows: DataFrame) -> str:
    """A hash of the rows that does not depend on their order."""
    found = rows.agg(F.bit_xor(F.xxhash64(PROBLEM, RECORD)).alias("digest")).collect()[0]
    return f"{found['digest'] & (2**64 - 1):016x}"
