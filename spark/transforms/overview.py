"""What a tally says about days and attributes as a whole: one small query instead of three."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from index import Attribute
from spark.transforms.counts import DAY, EMPTY, PRESENT, PROBLEM, VALUE
from spark.weights import WEIGHT


@dataclass(slots=True)
class Whole:
    """The good rows of a day, and their weight."""

    rows: int = 0
    weight: int = 0


@dataclass(slots=True)
class Presence:
    """The weight of the requests where an attribute is `present` and, for lists, `empty`; and the
    number of `distinct` values."""

    present: int = 0
    empty: int = 0
    distinct: int = 0


@dataclass(slots=True)
class Overview:
    """By day and by attribute; those that no row has are not there."""

    days: dict[str, Whole] = field(default_factory=dict)
    attributes: dict[str, Presence] = field(default_factory=lambda: defaultdict(Presence))
    problems: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """The number of malformed rows by day and problem."""


def overview(tally: DataFrame, attributes: Iterable[Attribute]) -> Overview:
    """The overview of a tally. A scalar is present as often as its values are."""
    lists = {each.name for each in attributes if each.type.is_list}
    problem = F.when(F.col("kind") == PROBLEM, F.col("value")).alias("problem")
    sums = (F.sum(WEIGHT).alias(WEIGHT), F.sum("rows").alias("rows"), F.count("*").alias("values"))
    found = Overview()
    for kind, name, about, weight, rows, values in (
        tally.groupBy("kind", "name", problem).agg(*sums).collect()
    ):
        if kind == DAY:
            found.days[name] = Whole(rows, weight)
        elif kind == PROBLEM:
            found.problems[name][about] = rows
        elif kind == EMPTY:
            found.attributes[name].empty = weight
        elif kind == PRESENT:
            found.attributes[name].present += weight
        elif kind == VALUE:
            found.attributes[name].distinct = values
            found.attributes[name].present += 0 if name in lists else weight
    return found
