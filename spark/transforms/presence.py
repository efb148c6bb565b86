"""How many requests have an attribute, with which number of values; of a list, how many have it
with nothing in it."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from index import Schema
from spark.columns import counted
from spark.transforms.tally import EMPTY, PRESENT, VALUE
from spark.weights import WEIGHT


def presence(tally: DataFrame, schema: Schema) -> DataFrame:
    """For each attribute (`name`) that any request has: the weights `present` and `empty`. A scalar
    is there as often as its values are."""
    lists = [each.name for each in counted(schema) if each.type.is_list]
    kind, weight = F.col("kind"), F.col(WEIGHT)
    scalar = (kind == VALUE) & ~F.col("name").isin(lists)
    return (
        tally.where(kind.isin(VALUE, PRESENT, EMPTY))
        .groupBy("name")
        .agg(
            _sum(F.when((kind == PRESENT) | scalar, weight)).alias("present"),
            _sum(F.when(kind == EMPTY, weight)).alias("empty"),
        )
    )


def _sum(column: Column) -> Column:
    return F.coalesce(F.sum(column), F.lit(0))
