"""The rows of a log that was checked: the good ones, in the form that the index matches, and the
malformed ones."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.columns import PROBLEM, RECORD
from spark.weights import WEIGHT


def good_rows(checked: DataFrame) -> DataFrame:
    """The rows without a problem."""
    return checked.where(F.col(PROBLEM).isNull()).drop(PROBLEM, RECORD)


def quarantined(checked: DataFrame) -> DataFrame:
    """The malformed rows: the day, the problem and the text."""
    return checked.where(F.col(PROBLEM).isNotNull()).select("day", PROBLEM, RECORD)


def as_requests(good: DataFrame) -> DataFrame:
    """`day`, `weight`, and `attributes` and `builtins` as JSON."""
    builtins = F.coalesce(F.to_json("builtins"), F.lit("{}")).alias("builtins")
    return good.select("day", WEIGHT, F.to_json("attributes").alias("attributes"), builtins)


def daily(good: DataFrame) -> dict[str, int]:
    """The number of good rows of each day."""
    return {row["day"]: row["count"] for row in good.groupBy("day").count().collect()}
