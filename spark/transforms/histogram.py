"""What the common values of a number leave over: ranges that hold about the same weight each.

    rest ──▶ sliced: by range, so that slices follow   ──▶ what stands before each value
             one another (persist it: evaluated again, ──▶ which range that is in
             it may be sliced elsewhere)               ──▶ least, greatest, weight of each range

A running sum over all values of an attribute would be one task's work. Here it is a running sum in
each slice, and what the slices before it come to.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from index import Schema
from index.language import Type
from spark.columns import counted
from spark.transforms.tally import VALUE
from spark.weights import WEIGHT

_ORDER = ("whole", "real")


def rest(tally: DataFrame, common: DataFrame, schema: Schema) -> DataFrame:
    """The numbers that are not among the common ones; elements of lists are no numbers here."""
    numbers = [a.name for a in counted(schema) if a.type in (Type.INT, Type.FLOAT)]
    values = tally.where((F.col("kind") == VALUE) & F.col("name").isin(numbers))
    return values.join(F.broadcast(common.select("name", "value")), ["name", "value"], "left_anti")


def sliced(rest: DataFrame, slices: int) -> DataFrame:
    """In slices that follow one another; which one a row is in depends on how Spark samples them,
    the histogram does not."""
    ranged = rest.repartitionByRange(slices, "name", *_ORDER)
    return ranged.select("name", *_ORDER, WEIGHT, F.spark_partition_id().alias("slice"))


def histogram(sliced: DataFrame, ranges: int) -> DataFrame:
    """For each attribute (`name`) its ranges, `place` by place: `least` and `greatest` value, both
    included, and their `weight`. A value is never in two ranges."""
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
    """Which of the ranges a value begins in; in decimals, since a product of longs may not fit."""
    share = start.cast("decimal(38,0)") * F.lit(ranges)
    return F.floor(share / F.col("total")).cast("int")
