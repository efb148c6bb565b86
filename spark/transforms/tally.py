"""The sums of all tasks, added up: the weight of every value of every attribute, exactly.

    {"country": "US", "segments": [3, 7, 3]}  ──▶  value    country   US    w
                                                   present  segments        w
                                                   value    segments  3     w
                                                   value    segments  7     w
                                                   day      2026-11-16      w

Values of all types are sent as text; numbers get their type back here. A list counts each of its
elements once.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from index import Attribute, Schema
from index.language import Type
from spark.columns import counted_attributes
from spark.transforms.counts import DAY, EMPTY, PRESENT, PROBLEM, VALUE
from spark.weights import WEIGHT


def tally(found: DataFrame, schema: Schema) -> DataFrame:
    """The `weight` and the number of `rows` by `kind`, `name` (an attribute or a day) and `value`;
    numbers also have their typed value, in `whole` or `real`."""
    attributes = counted_attributes(schema)
    summed = (
        found.where(F.col("kind").isin(VALUE, PRESENT, EMPTY, DAY, PROBLEM))
        .groupBy("kind", "name", "value")
        .agg(F.sum(WEIGHT).alias(WEIGHT), F.sum("rows").alias("rows"))
    )
    return summed.select(
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
