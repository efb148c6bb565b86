"""A sample of the requests: each is as likely as any other, and a second run draws the same ones.

It takes the rows whose ids have the smallest SHA-256. Hashes are spread evenly, so a bound drops
nearly all rows before anything is sorted or sent.
"""

from math import ceil, sqrt

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.weights import WEIGHT

_DIGITS = 12
_SURE = 8
"""The bound keeps this many standard deviations more rows than needed, so never too few."""


def as_requests(good: DataFrame, *more: str) -> DataFrame:
    """Rows of the log in the form that the index matches: `day`, `weight`, and `attributes` and
    `builtins` as JSON; with the columns `more`."""
    builtins = F.coalesce(F.to_json("builtins"), F.lit("{}")).alias("builtins")
    return good.select("day", WEIGHT, F.to_json("attributes").alias("attributes"), builtins, *more)


def sample(good: DataFrame, rows: int, most: int) -> DataFrame:
    """At most `most` of the `rows` rows, as requests, with the hash (`lot`) that orders them."""
    chosen = good.withColumn("lot", F.sha2("request_id", 256))
    if rows > most:
        chosen = chosen.where(F.substring("lot", 1, _DIGITS) <= _bound(rows, most))
    # Rows with the same id and time are ordered by all that they say: the same log always gives the
    # same sample.
    requests = as_requests(chosen, "lot", "time")
    ordered = requests.orderBy("lot", "day", "time", "attributes", "builtins", WEIGHT)
    return ordered.limit(most).drop("time")


def _bound(rows: int, most: int) -> str:
    """The hash prefix, as hex, below which there are certainly enough rows."""
    share = min(1.0, (most + _SURE * ceil(sqrt(most)) + _SURE**2) / rows)
    return f"{min(int(share * 16**_DIGITS), 16**_DIGITS - 1):0{_DIGITS}x}"
