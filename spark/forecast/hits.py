"""Which requests each of many expressions matches, by the production index inside Spark.

Every Python worker of Spark builds the index once, from trees that are broadcast, and asks it about
the requests that it is given (`mapInArrow`). What comes out are sums by expression and day, so
however many requests there are, little travels. Where there are too many expressions for one index
(`variants.py`), the requests are asked about in several rounds.
"""

from array import array
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any
from uuid import uuid4

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from index import Attribute, EventError, Index, Query, Schema
from spark.forecast.hit_counter import HitCounter
from spark.forecast.variants import LIMITS, WHOLE, Expressions, rounds, variants
from spark.transforms.arrow import Batches
from spark.weights import UNIT, WEIGHT

ALL = -1
"""The id under which every request counts that could be asked about."""

UNREADABLE = -2
"""… and those that do not fit the catalogue."""

_SUMS = "id bigint, dropped int, day string, count bigint, weight double, squares double"
_ARROW = pa.schema(
    [
        ("id", pa.int64()),
        ("dropped", pa.int32()),
        ("day", pa.string()),
        ("count", pa.int64()),
        ("weight", pa.float64()),
        ("squares", pa.float64()),
    ]
)

Types = Sequence[tuple[str, str]]
"""Names of attributes and their types: a schema on its way to a worker."""


def as_requests(good: DataFrame) -> DataFrame:
    """Rows of the log as they are asked about: `day`, `weight`, and the rest as JSON."""
    return good.select(
        "day",
        WEIGHT,
        F.to_json("attributes").alias("attributes"),
        F.to_json("builtins").alias("builtins"),
    )


def reach(
    requests: DataFrame, expressions: Expressions, schema: Schema, without: int = 0
) -> DataFrame:
    """For each expression (`id`) and `day` that it matches any request of: how many rows, their
    weights and the squares of these; `dropped` is `WHOLE`. The same for the expression without each
    of its first predicates, at most `without` of them: `dropped` says which one, from one on.
    `ALL` has the sums of all requests."""
    types = types_of(schema)
    parts = list(rounds(expressions, without))
    some = requests.select("day", WEIGHT, "attributes", "builtins")
    if len(parts) > 1:
        some = some.persist()
    context = requests.sparkSession.sparkContext
    asked = [
        some.mapInArrow(_asker(context.broadcast((types, part)), without, number == 0), _SUMS)
        for number, part in enumerate(parts)
    ]
    return (
        reduce(DataFrame.unionAll, asked)
        .groupBy("id", "dropped", "day")
        .agg(*(F.sum(name).alias(name) for name in ("count", "weight", "squares")))
    )


def types_of(schema: Schema) -> Types:
    """A schema as it travels."""
    return [(attribute.name, attribute.type.value) for attribute in schema]


def schema_from(types: Types) -> Schema:
    """… and as it arrives."""
    return Schema([Attribute(name, type) for name, type in types])


class _Built:
    """An index of expressions. What is at a place of it has an id and says what is left out; the
    first two places stand for `ALL` and `UNREADABLE`."""

    def __init__(self, schema: Schema, expressions: Expressions, without: int) -> None:
        self.ids, self.dropped = array("q", [ALL, UNREADABLE]), array("i", [WHOLE, WHOLE])
        self.index = Index(schema, limits=LIMITS)
        rows = []
        for id, dropped, tree in variants(expressions, schema, without):
            rows.append((len(self.ids), tree))
            self.ids.append(id)
            self.dropped.append(dropped)
        self.index.insert_json(rows)

    def ask(self, batches: Batches) -> pa.Table:
        """The sums of the requests, as rows of `reach`."""
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
            schema=_ARROW,
        )

    def _places(self, attributes: bytes, builtins: dict[str, Any]) -> list[int]:
        try:
            matched = self.index.ask(attributes, Query(builtins=builtins)).ids
        except EventError:
            return [1]
        matched.append(0)
        return matched


_built: dict[str, _Built] = {}
"""In a worker: the index of the last broadcast."""


def _asker(shared: "Broadcast[Any]", without: int, first: bool) -> Callable[[Batches], Batches]:
    """Only the `first` round tells of `ALL` requests."""
    token = uuid4().hex

    def ask(batches: Batches) -> Batches:
        if token not in _built:
            types, expressions = shared.value
            _built.clear()
            _built[token] = _Built(schema_from(types), expressions, without)
        found = _built[token].ask(batches)
        if not first:
            found = found.filter(pc.greater_equal(found["id"], 0))
        yield from found.to_batches()

    return ask
