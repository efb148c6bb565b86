"""Turns the hits of each campaign and day into a forecast, in the workers of Spark."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from campaigns.catalogue.privacy import not_logged
from campaigns.statistics.estimate import Estimate, Sums, estimate, unknown
from campaigns.statistics.relaxation import Dropped, compared, left_out, nearest_miss
from index import Schema
from index.language import Tree
from index.language.json_form import from_json
from spark.forecast.campaigns import CampaignTree
from spark.forecast.hits import ALL
from spark.forecast.variants import LIMITS, WHOLE
from spark.transforms.arrow import Batches

_DROPPED = pa.struct(
    [
        ("predicate", pa.string()),
        ("attribute", pa.string()),
        ("matched_requests_per_day", pa.int64()),
        ("change", pa.float64()),
        ("words", pa.string()),
    ]
)
_FORECAST = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("low", pa.int64()),
        ("high", pa.int64()),
        ("hits", pa.int64()),
        ("insufficient_data", pa.bool_()),
        ("not_logged", pa.list_(pa.string())),
        ("without", pa.list_(_DROPPED)),
        ("nearest_miss", _DROPPED),
    ]
)
_ROWS_AT_ONCE = 500
"""Campaigns that are Python objects at a time: each has a sum for every variant and day."""

Variants = Mapping[int, Mapping[str, Sums]]
"""The sums of each day, by the number of the predicate left out."""


def asked_by_day(sums: DataFrame) -> dict[str, Sums]:
    """The requests that were matched, by day."""
    rows = sums.where(F.col("id") == ALL).collect()
    return {row["day"]: Sums(row["count"], row["weight"], row["squares"]) for row in rows}


def estimate_campaigns(
    spark: SparkSession,
    sums: DataFrame,
    campaigns: Sequence[CampaignTree],
    schema: Schema,
    asked: Mapping[str, Sums],
    requests_by_day: Mapping[str, float],
    without: int = 0,
) -> DataFrame:
    """A forecast for each campaign (`id`, `name`): the bounds `low` and `high` of the requests a
    day, the `hits` behind them, and the forecasts `without` each of its first predicates, as many
    as `count_hits` counted. A campaign without hits still has an upper bound."""
    every = spark.createDataFrame(
        [(each.id, each.name, bytearray(each.tree)) for each in campaigns],
        "id bigint, name string, tree binary",
    )
    found = F.collect_list(F.struct("dropped", "day", "count", "weight", "squares")).alias("sums")
    hits = sums.where(F.col("id") >= 0).groupBy("id").agg(found)
    make = _Forecasts(schema, asked, requests_by_day, without)
    return every.join(hits, "id", "left").mapInArrow(make.batches(), from_arrow_schema(_FORECAST))


class _Forecasts:
    """Makes forecasts from rows with `id`, `name`, `tree` and `sums`."""

    def __init__(
        self,
        schema: Schema,
        asked: Mapping[str, Sums],
        requests_by_day: Mapping[str, float],
        without: int,
    ) -> None:
        self._schema = schema
        self._asked = dict(asked)
        self._document = {"requests_by_day": dict(requests_by_day)}
        self._without = without

    def batches(self) -> Callable[[Batches], Batches]:
        """The function for `mapInArrow`."""

        def make(batches: Batches) -> Batches:
            for batch in batches:
                for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                    some = batch.slice(start, _ROWS_AT_ONCE).to_pylist()
                    rows = [self._row(row) for row in some]
                    yield from pa.Table.from_pylist(rows, schema=_FORECAST).to_batches()

        return make

    def _row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        sums: dict[int, dict[str, Sums]] = {}
        for each in row["sums"] or ():
            of_days = sums.setdefault(each["dropped"], {})
            of_days[each["day"]] = Sums(each["count"], each["weight"], each["squares"])
        tree = from_json(row["tree"], self._schema, LIMITS)
        private = not_logged(tree)
        found = unknown(self._document) if private else self._estimate(sums, WHOLE)
        without = () if private else self._dropped(tree, sums, found.requests)
        nearest = nearest_miss(without, found.requests)
        return {
            "id": row["id"],
            "name": row["name"],
            "low": math.floor(found.low),
            "high": math.ceil(found.high),
            "hits": found.hits,
            "insufficient_data": found.insufficient,
            "not_logged": private,
            "without": [dropped.to_dict() for dropped in without],
            "nearest_miss": None if nearest is None else nearest.to_dict(),
        }

    def _dropped(self, tree: Tree, sums: Variants, whole: float) -> Sequence[Dropped]:
        if not self._without:
            return ()
        rests = left_out(tree, self._without)
        return [
            compared(predicate, self._estimate(sums, number).requests, whole)
            for number, (predicate, _) in enumerate(rests, 1)
        ]

    def _estimate(self, sums: Variants, dropped: int) -> Estimate:
        return estimate(self._document, self._asked, sums.get(dropped, {}))
