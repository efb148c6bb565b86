"""The most common values of each attribute, exactly.

In two steps, since an attribute may have as many values as there are requests: the best of each
slice of the values, then the best of those. Ties go to the smaller value, so the same log always
gives the same list.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark.transforms.counts import VALUE
from spark.weights import WEIGHT

SLICES = 16


def top_values(tally: DataFrame, most: int) -> DataFrame:
    """The `most` common values of each attribute (`name`), with their `rank` from 1."""
    values = tally.where(F.col("kind") == VALUE)
    ties = ["whole", "real", "value"]
    order = [F.col(WEIGHT).desc(), *(F.col(name).asc_nulls_first() for name in ties)]
    slice = F.pmod(F.xxhash64(*ties), F.lit(SLICES))
    some = _first(values.withColumn("slice", slice), ["name", "slice"], order, most)
    return _first(some.drop("slice", "rank"), ["name"], order, most)


def _first(rows: DataFrame, group: Sequence[str], order: list[Column], most: int) -> DataFrame:
    window = Window.partitionBy(*group).orderBy(*order)
    return rows.withColumn("rank", F.row_number().over(window)).where(F.col("rank") <= most)
