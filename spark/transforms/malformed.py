"""The malformed rows, of what the tasks found."""

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.columns import PROBLEM, RECORD
from spark.transforms.found import BAD


def malformed(found: DataFrame) -> DataFrame:
    """The malformed rows: the day, the problem and the text."""
    return found.where(F.col("kind") == BAD).select("day", PROBLEM, RECORD)


def problems_by_day(bad: DataFrame) -> dict[str, dict[str, int]]:
    """The number of malformed rows by day and problem."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in bad.groupBy("day", PROBLEM).agg(F.count(F.lit(1)).alias("rows")).collect():
        found[row["day"]][row[PROBLEM]] = row["rows"]
    return dict(found)
