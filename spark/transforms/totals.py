"""The rows and requests of each day, and the number of malformed rows."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.transforms.tally import BAD, DAY
from spark.weights import WEIGHT


def totals(tally: DataFrame) -> DataFrame:
    """For each `day`, its good `rows` and their `weight`."""
    return tally.where(F.col("kind") == DAY).select(F.col("name").alias("day"), "rows", WEIGHT)


def problems(tally: DataFrame) -> DataFrame:
    """For each `day` and `problem`, the number of malformed `rows`."""
    bad = tally.where(F.col("kind") == BAD)
    return bad.select(F.col("name").alias("day"), F.col("value").alias("problem"), "rows")


def daily(good: DataFrame) -> DataFrame:
    """The same as `totals`, computed from the rows, for a job that needs no tally."""
    return good.groupBy("day").agg(F.count(F.lit(1)).alias("rows"), F.sum(WEIGHT).alias(WEIGHT))
