"""The number of requests that a row stands for, in whole millionths.

Sums of integers do not depend on the order in which tasks finish; sums of doubles do, and a day
that is counted twice must give the same statistics to the last digit. A total may reach
9 × 10¹² requests; beyond that Spark raises an error instead of a wrong sum.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

UNIT = 1_000_000
"""The weight of one request."""

WEIGHT = "weight"


def weight(sample_rate: Column) -> Column:
    """The weight of 1 / `sample_rate` requests."""
    return F.round(F.lit(float(UNIT)) / sample_rate).cast("long")
