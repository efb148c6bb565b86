"""For each attribute: the requests that have it, and its distinct values."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from index import Schema
from spark.columns import counted_attributes
from spark.transforms.counts import EMPTY, PRESENT, VALUE
from spark.weights import WEIGHT


def presence(tally: DataFrame, schema: Schema) -> DataFrame:
    """For each attribute (`name`) that any request has: the weight of the requests where it is
    `present` and, for lists, `empty`; and the number of `distinct` values. A scalar is present as
    often as its values are."""
    lists = [each.name for each in counted_attributes(schema) if each.type.is_list]
    kind, weight = F.col("kind"), F.col(WEIGHT)
    scalar = (kind == VALUE) & ~F.col("name").isin(lists)
    return (
        tally.where(kind.isin(VALUE, PRESENT, EMPTY))
        .groupBy("name")
        .agg(
            _sum(F.when((kind == PRESENT) | scalar, weight)).alias("present"),
            _sum(F.when(kind == EMPTY, weight)).alias("empty"),
            F.count_if(kind == VALUE).alias("distinct"),
        )
    )


def _sum(column: Column) -> Column:
    return F.coalesce(F.sum(column), F.lit(0))
