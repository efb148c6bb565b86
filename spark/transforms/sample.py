"""A sample of the requests: each is as likely as any other, and a second run draws the same ones.

It has the requests whose ids have the smallest SHA-256, of those that the tasks kept
(`sampler.py`).
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.transforms.counts import SAMPLE
from spark.weights import WEIGHT


def sample(found: DataFrame, most: int) -> DataFrame:
    """At most `most` requests, in the order of their hash (`lot`): `day`, `weight`, and
    `attributes` and `builtins` as JSON."""
    least = F.min(F.struct("day", "value", WEIGHT)).alias("least")
    once = found.where(F.col("kind") == SAMPLE).groupBy("lot").agg(least)
    said = F.get_json_object
    return (
        once.orderBy("lot")
        .limit(most)
        .select(
            "lot",
            "least.day",
            f"least.{WEIGHT}",
            said("least.value", "$.attributes").alias("attributes"),
            said("least.value", "$.builtins").alias("builtins"),
        )
    )
