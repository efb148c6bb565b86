"""How many requests a row stands for, as whole millionths.

Sums of whole numbers are the same in whatever order tasks finish; sums of doubles are not, and a
day that is counted twice must give the same statistics to the last digit. A total may reach
9 × 10¹² requests; beyond that Spark refuses to add, and is not silently wrong.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

UNIT = 1_000_000
"""What one request weighs."""

WEIGHT = "weight"


def weight(sample_rate: Column) -> Column:
    """1 / `sample_rate` requests."""
    return F.round(F.lit(float(UNIT)) / sample_rate).cast("long")
