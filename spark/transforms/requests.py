"""The good rows of a log that was checked, and the form in which the index matches them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.columns import PROBLEM
from spark.weights import WEIGHT


def good_rows(checked: DataFrame) -> DataFrame:
    """The rows without a problem."""
    return checked.where(F.col(PROBLEM).isNull()).drop(PROBLEM)


def as_requests(good: DataFrame) -> DataFrame:
    """`day`, `weight`, and `attributes` and `builtins` as JSON."""
    builtins = F.coalesce(F.to_json("builtins"), F.lit("{}")).alias("builtins")
    return good.select("day", WEIGHT, F.to_json("attributes").alias("attributes"), builtins)
