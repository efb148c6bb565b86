"""Some requests as they were, every one as likely as any other, and always the same ones.

The rows whose ids have the least SHA-256 are taken: that is as good as drawing lots, needs no
generator of random numbers, and who runs it again gets the same rows. Lots are evenly spread, so
nearly all rows are out before anything is sorted or sent.
"""

from math import ceil, sqrt

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.weights import WEIGHT

_DIGITS = 12
_SURE = 8
"""So many standard deviations more than are needed stay in: there are never too few."""


def sample(good: DataFrame, rows: int, most: int) -> DataFrame:
    """At most so many of the rows, of which there are `rows`: `day`, `weight`, and `attributes`
    and `builtins` as JSON, in the order of their `lot`."""
    chosen = good.withColumn("lot", F.sha2("request_id", 256))
    if rows > most:
        chosen = chosen.where(F.substring("lot", 1, _DIGITS) <= _bound(rows, most))
    return (
        chosen.orderBy("lot", "day", "time")
        .limit(most)
        .select(
            "lot",
            "day",
            WEIGHT,
            F.to_json("attributes").alias("attributes"),
            F.to_json("builtins").alias("builtins"),
        )
    )


def _bound(rows: int, most: int) -> str:
    """The lot, as hex, below which there are surely enough."""
    share = min(1.0, (most + _SURE * ceil(sqrt(most)) + _SURE**2) / rows)
    return f"{min(int(share * 16**_DIGITS), 16**_DIGITS - 1):0{_DIGITS}x}"
