"""The rows and requests of each day, and the number of malformed rows."""

from collections import defaultdict

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.columns import PROBLEM
from spark.transforms.tally import DAY
from spark.weights import WEIGHT


def totals(tally: DataFrame) -> DataFrame:
    """For each `day`, its good `rows` and their `weight`."""
    return tally.where(F.col("kind") == DAY).select(F.col("name").alias("day"), "rows", WEIGHT)


def problems_by_day(bad: DataFrame) -> dict[str, dict[str, int]]:
    """The number of malformed rows by day and problem."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in bad.groupBy("day", PROBLEM).agg(F.count(F.lit(1)).alias("rows")).collect():
        found[row["day"]][row[PROBLEM]] = row["rows"]
    return dict(found)


def daily(good: DataFrame) -> DataFrame:
    """The same as `totals`, computed from the rows, for a job that needs no tally."""
    return good.groupBy("day").agg(F.count(F.lit(1)).alias("rows"), F.sum(WEIGHT).alias(WEIGHT))
