"""Which requests each of many expressions matches, by the production index inside Spark.

Every Python worker of Spark builds the index once, from trees that are broadcast, and asks it about
the requests that it is given (`mapInArrow`). What comes out are sums by expression and day, so
however many requests there are, little travels.
"""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from campaigns.statistics.estimate import Sums
from index import Attribute, EventError, Index, Limits, Schema
from index.language.limits import MAX_DEPTH
from spark.transforms.arrow import Batches
from spark.weights import UNIT, WEIGHT

ALL = -1
"""The id under which every request counts that could be asked about."""

UNREADABLE = -2
"""… and those that do not fit the catalogue."""

_LIMITS = Limits(2**31 - 1, 2**20, MAX_DEPTH, 2**24)
_SUMS = "id bigint, day string, count bigint, weight double, squares double"
_ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("day", pa.string()),
        ("count", pa.int64()),
        ("weight", pa.float64()),
        ("squares", pa.float64()),
    ]
)

Expressions = Sequence[tuple[int, bytes]]
"""Ids, from zero on, and the JSON of trees."""


def as_requests(good: DataFrame) -> DataFrame:
    """Rows of the log as they are asked about: `day`, `weight`, and the rest as JSON."""
    return good.select(
        "day",
        WEIGHT,
        F.to_json("attributes").alias("attributes"),
        F.to_json("builtins").alias("builtins"),
    )


def reach(requests: DataFrame, expressions: Expressions, schema: Schema) -> DataFrame:
    """For each expression (`id`) and `day` that it matches any request of: how many rows, their
    weights and the squares of these. `ALL` has those of all requests."""
    types = [(attribute.name, attribute.type.value) for attribute in schema]
    context = requests.sparkSession.sparkContext
    shared = context.broadcast((types, list(expressions)))
    return (
        requests.select("day", WEIGHT, "attributes", "builtins")
        .mapInArrow(_asker(shared), _SUMS)
        .groupBy("id", "day")
        .agg(*(F.sum(name).alias(name) for name in ("count", "weight", "squares")))
    )


_built: dict[str, Index] = {}
"""In a worker: the index of the last broadcast."""


def _asker(shared: "Broadcast[Any]") -> Callable[[Batches], Batches]:
    token = uuid4().hex

    def ask(batches: Batches) -> Batches:
        if token not in _built:
            types, expressions = shared.value
            _built.clear()
            _built[token] = index_of(Schema(_attributes(types)), expressions)
        sums: dict[tuple[int, str], Sums] = {}
        for batch in batches:
            _ask(_built[token], batch, sums)
        rows = [
            {"id": id, "day": day, "count": s.count, "weight": s.weight, "squares": s.squares}
            for (id, day), s in sums.items()
        ]
        yield from pa.Table.from_pylist(rows, schema=_ARROW).to_batches()

    return ask


def index_of(schema: Schema, expressions: Expressions) -> Index:
    """An index of expressions."""
    index = Index(schema, limits=_LIMITS)
    index.insert_json(list(expressions))
    return index


def _ask(index: Index, batch: pa.RecordBatch, sums: dict[tuple[int, str], Sums]) -> None:
    columns = (batch.column(name).to_pylist() for name in batch.schema.names)
    for day, micros, attributes, builtins in zip(*columns, strict=True):
        weight = micros / UNIT
        try:
            matched = index.match_json(attributes.encode(), None, orjson.loads(builtins))
        except EventError:
            matched = [UNREADABLE]
        else:
            matched.append(ALL)
        for id in matched:
            known = sums.get((id, day))
            if known is None:
                known = sums[id, day] = Sums()
            known.add(weight)


def _attributes(types: Sequence[tuple[str, str]]) -> list[Attribute]:
    return [Attribute(name, type) for name, type in types]
