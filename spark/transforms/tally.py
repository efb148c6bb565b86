"""Everything that is counted one by one, in one pass: every value of every attribute, exactly.

    {"country": "US", "segments": [3, 7, 3]}  ──▶  value    country   US    w
                                                   present  segments        w
                                                   value    segments  3     w
                                                   value    segments  7     w
                                                   day      2026-11-16      w
    a bad row                                 ──▶  problem  2026-11-16  wrong_type

Twice: first in each batch of some thousand rows, column by column, by Arrow (`mapInArrow`; no
Python looks at a row), then over all batches by Spark. What the plain way costs, an array of
entries for each row that is exploded and grouped, is in `docs/decisions/0013-pyspark.md`.

Values of all types travel as text, and numbers get their type back when they are counted. Of a
list each element counts once.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from index import Attribute, Schema
from index.language import Type
from spark.columns import counted
from spark.transforms.arrow import Batches, elements, repeated
from spark.transforms.validation import PROBLEM
from spark.weights import WEIGHT

VALUE, PRESENT, EMPTY, DAY, BAD = "value", "present", "empty", "day", "problem"

_COUNTED = f"kind string, name string, value string, {WEIGHT} bigint, rows bigint"
_ARROW = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        (WEIGHT, pa.int64()),
        ("rows", pa.int64()),
    ]
)


def tally(rows: DataFrame, schema: Schema) -> DataFrame:
    """For each `kind`, `name` (of the attribute, or the day) and `value`: the `weight` and the
    `rows`; and the value again as what it is, for numbers: `whole` or `real`."""
    attributes = counted(schema)
    found = (
        rows.select("day", PROBLEM, WEIGHT, "attributes")
        .mapInArrow(_counter(attributes), _COUNTED)
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
    return F.when(is_one, F.col("value").try_cast(sql))


def _counter(attributes: list[Attribute]) -> Callable[[Batches], Batches]:
    """What a task does with its batches."""
    types = [(each.name, each.type.is_list, each.type is Type.FLOAT) for each in attributes]

    def count(batches: Batches) -> Batches:
        for batch in batches:
            parts = list(_count(batch, types))
            yield from pa.concat_tables(parts).to_batches()

    return count


def _count(batch: pa.RecordBatch, types: list[tuple[str, bool, bool]]) -> Iterator[pa.Table]:
    is_good = pc.is_null(batch.column(PROBLEM))
    bad = batch.filter(pc.invert(is_good))
    for day in pc.unique(bad.column("day")).to_pylist():
        some = bad.filter(pc.equal(bad.column("day"), day)).column(PROBLEM)
        yield _summed(BAD, day, some, pa.nulls(len(some), pa.int64()).fill_null(0))
    good = batch.filter(is_good)
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
        # There are two zeros of floats; they are one value.
        values = pc.add(values, 0.0) if is_float else values
        yield _summed(VALUE, name, values, weights.filter(there))


def _count_list(name: str, lists: pa.Array, weights: pa.Array) -> Iterator[pa.Table]:
    yield _whole(PRESENT, name, weights)
    yield _whole(EMPTY, name, weights.filter(pc.equal(pc.list_value_length(lists), 0)))
    owners, values = elements(lists)
    yield _summed(VALUE, name, values, weights.take(owners))


def _summed(kind: str, name: str, values: pa.Array, weights: pa.Array) -> pa.Table:
    """Each value with its weight and its rows."""
    table = pa.table({"value": values, WEIGHT: weights})
    sums = table.group_by("value").aggregate([(WEIGHT, "sum"), (WEIGHT, "count")])
    size = len(sums)
    texts = sums["value"].cast(pa.string())
    columns = [repeated(kind, size), repeated(name, size), texts]
    return pa.table([*columns, sums[f"{WEIGHT}_sum"], sums[f"{WEIGHT}_count"]], schema=_ARROW)


def _whole(kind: str, name: str, weights: pa.Array) -> pa.Table:
    """All of it, in one row; none if there is nothing."""
    if not len(weights):
        return _ARROW.empty_table()
    row = {"kind": kind, "name": name, WEIGHT: pc.sum(weights).as_py(), "rows": len(weights)}
    return pa.Table.from_pylist([row], schema=_ARROW)
