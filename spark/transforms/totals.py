"""How many rows a day has, the requests that they stand for, and what was wrong with the others."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.transforms.tally import BAD, DAY
from spark.weights import WEIGHT


def totals(tally: DataFrame) -> DataFrame:
    """For each `day`, its good `rows` and their `weight`."""
    return tally.where(F.col("kind") == DAY).select(F.col("name").alias("day"), "rows", WEIGHT)


def problems(tally: DataFrame) -> DataFrame:
    """For each `day` and `problem`, how many `rows` are to be set aside."""
    bad = tally.where(F.col("kind") == BAD)
    return bad.select(F.col("name").alias("day"), F.col("value").alias("problem"), "rows")


def daily(good: DataFrame) -> DataFrame:
    """The same as `totals`, straight from the rows, where nothing else is counted."""
    return good.groupBy("day").agg(F.count(F.lit(1)).alias("rows"), F.sum(WEIGHT).alias(WEIGHT))
