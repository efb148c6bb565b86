"""Histograms of the numbers that are not among the common values: ranges of about equal weight.

    rest ──▶ sliced: by range, in order (persist it:  ──▶ the weight before each value
             evaluated again, Spark may slice it at   ──▶ the range that it falls in
             other values)                            ──▶ least, greatest, weight of each range

A running sum over all values of an attribute would be the work of one task. Instead it is a running
sum within each slice, plus the total of the slices before it.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from index import Schema
from index.language import Type
from spark.columns import counted_attributes
from spark.transforms.counts import VALUE
from spark.weights import WEIGHT

_ORDER = ("whole", "real")


def rest(tally: DataFrame, common: DataFrame, schema: Schema) -> DataFrame:
    """The numbers that are not among the common values; elements of lists do not count."""
    numbers = [a.name for a in counted_attributes(schema) if a.type in (Type.INT, Type.FLOAT)]
    values = tally.where((F.col("kind") == VALUE) & F.col("name").isin(numbers))
    return values.join(F.broadcast(common.select("name", "value")), ["name", "value"], "left_anti")


def sliced(rest: DataFrame, slices: int) -> DataFrame:
    """The same rows in ordered slices. The borders depend on how Spark samples the rows; the
    histogram does not."""
    ranged = rest.repartitionByRange(slices, "name", *_ORDER)
    return ranged.select("name", *_ORDER, WEIGHT, F.spark_partition_id().alias("slice"))


def histogram(sliced: DataFrame, ranges: int) -> DataFrame:
    """The ranges of each attribute (`name`), numbered by `place`: the `least` and the `greatest`
    value, both included, and the `weight`. No value is in two ranges."""
    sums = sliced.groupBy("name", "slice").agg(F.sum(WEIGHT).alias("held"))
    over = Window.partitionBy("name")
    before = over.orderBy("slice").rowsBetween(Window.unboundedPreceding, -1)
    offsets = sums.select(
        "name",
        "slice",
        F.coalesce(F.sum("held").over(before), F.lit(0)).alias("offset"),
        F.sum("held").over(over).alias("total"),
    )
    within = (
        Window.partitionBy("name", "slice")
        .orderBy(*_ORDER)
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    start = F.col("offset") + F.coalesce(F.sum(WEIGHT).over(within), F.lit(0))
    placed = sliced.join(F.broadcast(offsets), ["name", "slice"]).select(
        "name", *_ORDER, WEIGHT, _place(start, ranges).alias("place")
    )
    value = F.struct(*_ORDER)
    return placed.groupBy("name", "place").agg(
        F.min(value).alias("least"), F.max(value).alias("greatest"), F.sum(WEIGHT).alias(WEIGHT)
    )


def _place(start: Column, ranges: int) -> Column:
    """The number of the range that a value starts in; decimal, since a product of longs may
    overflow."""
    share = start.cast("decimal(38,0)") * F.lit(ranges)
    return F.floor(share / F.col("total")).cast("int")
