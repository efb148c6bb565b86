"""How many different values each attribute has, exactly."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark.transforms.tally import VALUE


def distinct(tally: DataFrame) -> DataFrame:
    """For each attribute (`name`), how many values were counted."""
    values = tally.where(F.col("kind") == VALUE)
    return values.groupBy("name").agg(F.count(F.lit(1)).alias("distinct"))
