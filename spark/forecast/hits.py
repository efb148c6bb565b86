"""Counts the requests that each expression matches, with the production index inside Spark.

Each Python worker of Spark builds the index once, from the trees that come with the function (Spark
broadcasts a large one), and matches its share of
the requests (`mapInArrow`). The workers return sums by expression and day, so little data moves
for any number of requests. Expressions that do not fit in one index are matched in several rounds
(`variants.py`).
"""

from array import array
from collections.abc import Callable
from functools import reduce
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from index import EventError, Query, Schema
from spark.engine import native_index
from spark.forecast.hit_counter import HitCounter
from spark.forecast.variants import LIMITS, WHOLE, Expressions, rounds, variants
from spark.transforms.arrow import Batches
from spark.weights import UNIT, WEIGHT

ALL = -1
"""The id that counts every request that could be matched."""

UNREADABLE = -2
"""The id that counts the requests that do not fit the catalogue."""

_SUMS = pa.schema(
    [
        ("id", pa.int64()),
        ("dropped", pa.int32()),
        ("day", pa.string()),
        ("count", pa.int64()),
        ("weight", pa.float64()),
        ("squares", pa.float64()),
    ]
)


def count_hits(
    requests: DataFrame, expressions: Expressions, schema: Schema, without: int = 0
) -> DataFrame:
    """For each expression (`id`) and `day` with a match: the number of matching rows, and the sums
    of their weights and squared weights; `dropped` is `WHOLE`. The same for the expression without
    each of its first `without` predicates: `dropped` is the number of the predicate, from 1. The id
    `ALL` has the sums of all requests."""
    parts = list(rounds(expressions, without))
    some = requests.select("day", WEIGHT, "attributes", "builtins")
    if len(parts) > 1:
        some = some.persist()
    columns = from_arrow_schema(_SUMS)
    counted = [
        some.mapInArrow(_matcher(schema, part, without, number == 0), columns)
        for number, part in enumerate(parts)
    ]
    return (
        reduce(DataFrame.unionAll, counted)
        .groupBy("id", "dropped", "day")
        .agg(*(F.sum(name).alias(name) for name in ("count", "weight", "squares")))
    )


class _Matcher:
    """An index of expressions and their variants. Each place has the id of an expression and the
    number of the predicate left out; the first two places are `ALL` and `UNREADABLE`."""

    def __init__(self, schema: Schema, expressions: Expressions, without: int) -> None:
        self.ids, self.dropped = array("q", [ALL, UNREADABLE]), array("i", [WHOLE, WHOLE])
        self.index = native_index(schema, LIMITS)
        rows = []
        for id, dropped, tree in variants(expressions, schema, without):
            rows.append((len(self.ids), tree))
            self.ids.append(id)
            self.dropped.append(dropped)
        self.index.insert_json(rows)

    def count(self, batches: Batches) -> pa.Table:
        """The sums of the requests, as rows of `count_hits`."""
        hits = HitCounter()
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in batch.schema.names)
            for day, weight, attributes, builtins in zip(*columns, strict=True):
                hits.add(day, weight, self._places(attributes.encode(), orjson.loads(builtins)))
        found = hits.table()
        return pa.table(
            [
                pa.array(self.ids, pa.int64()).take(found["place"]),
                pa.array(self.dropped, pa.int32()).take(found["place"]),
                found["day"],
                found["count"],
                pc.divide(found["weight"].cast(pa.float64()), float(UNIT)),
                pc.divide(found["squares"], float(UNIT) ** 2),
            ],
            schema=_SUMS,
        )

    def _places(self, attributes: bytes, builtins: dict[str, Any]) -> list[int]:
        try:
            matched = self.index.ask(attributes, Query(builtins=builtins)).ids
        except EventError:
            return [1]
        matched.append(0)
        return matched


_matchers: dict[str, _Matcher] = {}
"""In a worker: the matcher of the last function."""


def _matcher(
    schema: Schema, expressions: Expressions, without: int, first: bool
) -> Callable[[Batches], Batches]:
    """The function that matches the batches of a task. Only the `first` round counts `ALL`."""
    token = uuid4().hex

    def match(batches: Batches) -> Batches:
        if token not in _matchers:
            _matchers.clear()
            _matchers[token] = _Matcher(schema, expressions, without)
        found = _matchers[token].count(batches)
        if not first:
            found = found.filter(pc.greater_equal(found["id"], 0))
        yield from found.to_batches()

    return match
