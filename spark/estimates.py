"""From sums by campaign and day to forecasts, campaign by campaign, wherever Spark has them."""

import math
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from campaigns.statistics.estimate import Sums, estimate
from spark.reach import ALL
from spark.transforms.arrow import Batches

_FORECAST = (
    "id bigint, name string, low bigint, high bigint, hits bigint, insufficient_data boolean"
)
_ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("low", pa.int64()),
        ("high", pa.int64()),
        ("hits", pa.int64()),
        ("insufficient_data", pa.bool_()),
    ]
)


def asked_by_day(sums: DataFrame) -> dict[str, Sums]:
    """The requests that were asked about, day by day."""
    rows = sums.where(F.col("id") == ALL).collect()
    return {row["day"]: Sums(row["count"], row["weight"], row["squares"]) for row in rows}


def estimated(
    spark: SparkSession,
    sums: DataFrame,
    campaigns: Sequence[tuple[int, str]],
    asked: Mapping[str, Sums],
    requests_by_day: Mapping[str, float],
) -> DataFrame:
    """A forecast for each campaign (`id`, `name`): the bounds `low` and `high` of the requests a
    day, and the `hits` that it is made from. One without hits has an upper bound."""
    every = spark.createDataFrame(list(campaigns), "id bigint, name string")
    days = F.collect_list(F.struct("day", "count", "weight", "squares")).alias("days")
    hits = sums.where(F.col("id") >= 0).groupBy("id").agg(days)
    joined = every.join(hits, "id", "left")
    return joined.mapInArrow(_estimator(dict(asked), dict(requests_by_day)), _FORECAST)


def _estimator(
    asked: dict[str, Sums], requests_by_day: dict[str, float]
) -> Callable[[Batches], Batches]:
    document = {"requests_by_day": requests_by_day}

    def estimate_all(batches: Batches) -> Batches:
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                days = {
                    each["day"]: Sums(each["count"], each["weight"], each["squares"])
                    for each in row["days"] or ()
                }
                found = estimate(document, asked, days)
                rows.append(
                    {
                        "id": row["id"],
                        "name": row["name"],
                        "low": math.floor(found.low),
                        "high": math.ceil(found.high),
                        "hits": found.hits,
                        "insufficient_data": found.insufficient,
                    }
                )
            yield from pa.Table.from_pylist(rows, schema=_ARROW).to_batches()

    return estimate_all
