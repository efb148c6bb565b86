"""The commonest values of each attribute, exactly.

In two steps, since an attribute may have as many values as there are requests: the best of each
slice of the values, then the best of those. Among equals the smaller value comes first, so that the
same log gives the same list.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark.transforms.tally import VALUE
from spark.weights import WEIGHT

SLICES = 16


def common(tally: DataFrame, most: int) -> DataFrame:
    """At most so many values of each attribute (`name`), with their `rank` from 1 on."""
    values = tally.where(F.col("kind") == VALUE)
    return best(values, "name", ["whole", "real", "value"], most)


def best(weighed: DataFrame, group: str, ties: Sequence[str], most: int) -> DataFrame:
    """The rows with the greatest weight in each group; `ties` tell equals apart."""
    order = [F.col(WEIGHT).desc(), *(F.col(name).asc_nulls_first() for name in ties)]
    slice = F.pmod(F.xxhash64(*ties), F.lit(SLICES))
    some = _first(weighed.withColumn("slice", slice), [group, "slice"], order, most)
    return _first(some.drop("slice", "rank"), [group], order, most)


def _first(rows: DataFrame, group: Sequence[str], order: list[Column], most: int) -> DataFrame:
    window = Window.partitionBy(*group).orderBy(*order)
    return rows.withColumn("rank", F.row_number().over(window)).where(F.col("rank") <= most)
