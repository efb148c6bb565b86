"""Counts every value of every attribute exactly, in one pass over the log.

    {"country": "US", "segments": [3, 7, 3]}  ──▶  value    country   US    w
                                                   present  segments        w
                                                   value    segments  3     w
                                                   value    segments  7     w
                                                   day      2026-11-16      w

It counts twice: Arrow counts each batch of some thousand rows, column by column (`mapInArrow`; no
Python code runs for a row), then Spark adds up the batches. `docs/decisions/0013-pyspark.md` has
the cost of the plain way, which explodes each row into an array of entries and groups them.

Values of all types are sent as text; numbers get their type back afterwards. A list counts each of
its elements once.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from index import Attribute, Schema
from index.language import Type
from spark.columns import counted_attributes
from spark.transforms.arrow import Batches, elements, repeated
from spark.weights import WEIGHT

VALUE, PRESENT, EMPTY, DAY = "value", "present", "empty", "day"

_COUNTED = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        (WEIGHT, pa.int64()),
        ("rows", pa.int64()),
    ]
)


def tally(good: DataFrame, schema: Schema) -> DataFrame:
    """The `weight` and the number of `rows` by `kind`, `name` (an attribute or a day) and `value`;
    numbers also have their typed value, in `whole` or `real`."""
    attributes = counted_attributes(schema)
    found = (
        good.select("day", WEIGHT, "attributes")
        .mapInArrow(_counter(attributes), from_arrow_schema(_COUNTED))
        .groupBy("kind", "name", "value")
        .agg(F.sum(WEIGHT).alias(WEIGHT), F.sum("rows").alias("rows"))
    )
    return found.select(
        "kind",
        "name",
        "value",
        WEIGHT,
        "rows",
        _number(attributes, Type.INT, "BIGINT").alias("whole"),
        _number(attributes, Type.FLOAT, "DOUBLE").alias("real"),
    )


def _number(attributes: list[Attribute], type: Type, sql: str) -> Column:
    names = [each.name for each in attributes if each.type.element is type]
    is_one = (F.col("kind") == VALUE) & F.col("name").isin(names)
    return F.when(is_one, F.expr(f"try_cast(value AS {sql})"))


def _counter(attributes: list[Attribute]) -> Callable[[Batches], Batches]:
    """The function that counts the batches of a task."""
    types = [(each.name, each.type.is_list, each.type is Type.FLOAT) for each in attributes]

    def count(batches: Batches) -> Batches:
        for batch in batches:
            yield from pa.concat_tables(_count(batch, types)).to_batches()

    return count


def _count(good: pa.RecordBatch, types: list[tuple[str, bool, bool]]) -> Iterator[pa.Table]:
    weights = good.column(WEIGHT)
    for day in pc.unique(good.column("day")).to_pylist():
        yield _whole(DAY, day, weights.filter(pc.equal(good.column("day"), day)))
    attributes = good.column("attributes")
    for place, (name, is_list, is_float) in enumerate(types):
        column = pc.struct_field(attributes, [place])
        there = pc.is_valid(column)
        if is_list:
            yield from _count_list(name, column.filter(there), weights.filter(there))
            continue
        values = column.filter(there)
        # -0.0 and 0.0 are one value.
        values = pc.add(values, 0.0) if is_float else values
        yield _summed(VALUE, name, values, weights.filter(there))


def _count_list(name: str, lists: pa.Array, weights: pa.Array) -> Iterator[pa.Table]:
    yield _whole(PRESENT, name, weights)
    yield _whole(EMPTY, name, weights.filter(pc.equal(pc.list_value_length(lists), 0)))
    owners, values = elements(lists)
    yield _summed(VALUE, name, values, weights.take(owners))


def _summed(kind: str, name: str, values: pa.Array, weights: pa.Array) -> pa.Table:
    """The weight and the number of rows of each value."""
    table = pa.table({"value": values, WEIGHT: weights})
    sums = table.group_by("value").aggregate([(WEIGHT, "sum"), (WEIGHT, "count")])
    size = len(sums)
    texts = sums["value"].cast(pa.string())
    columns = [repeated(kind, size), repeated(name, size), texts]
    return pa.table([*columns, sums[f"{WEIGHT}_sum"], sums[f"{WEIGHT}_count"]], schema=_COUNTED)


def _whole(kind: str, name: str, weights: pa.Array) -> pa.Table:
    """One row with the sum of the weights; no row if there are none."""
    if not len(weights):
        return _COUNTED.empty_table()
    row = {"kind": kind, "name": name, WEIGHT: pc.sum(weights).as_py(), "rows": len(weights)}
    return pa.Table.from_pylist([row], schema=_COUNTED)
