"""The rows and requests of each day, and the malformed rows."""

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.columns import PROBLEM, RECORD
from spark.transforms.counts import BAD, DAY
from spark.weights import WEIGHT


def totals(found: DataFrame) -> DataFrame:
    """For each `day`, its good `rows` and their `weight`; of a tally, or of what tasks found."""
    days = found.where(F.col("kind") == DAY).groupBy(F.col("name").alias("day"))
    return days.agg(F.sum("rows").alias("rows"), F.sum(WEIGHT).alias(WEIGHT))


def malformed(found: DataFrame) -> DataFrame:
    """The malformed rows: the day, the problem and the text."""
    bad = found.where(F.col("kind") == BAD)
    return bad.select("day", F.col("name").alias(PROBLEM), F.col("value").alias(RECORD))


def problems_by_day(bad: DataFrame) -> dict[str, dict[str, int]]:
    """The number of malformed rows by day and problem."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in bad.groupBy("day", PROBLEM).agg(F.count(F.lit(1)).alias("rows")).collect():
        found[row["day"]][row[PROBLEM]] = row["rows"]
    return dict(found)
