"""How often two values occur together, for the pairs of attributes that the index uses together.

Only the most common values of each attribute are paired: a pair is at most as common as the rarer
of its values. So a request has a handful of pairs, not hundreds, and the counts are bounded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from index import Schema
from spark.columns import column_sql
from spark.transforms.arrow import Batches, elements
from spark.transforms.top_values import heaviest
from spark.weights import WEIGHT

Pair = tuple[str, str]
Values = Mapping[str, Sequence[bool | int | float | str]]

_COUNTED = pa.schema(
    [("pair", pa.int32()), ("first", pa.string()), ("second", pa.string()), (WEIGHT, pa.int64())]
)


def pair_tally(good: DataFrame, schema: Schema, pairs: Sequence[Pair], values: Values) -> DataFrame:
    """The `weight` of each `pair` (its place in `pairs`) and two of its `values` (`first`,
    `second`); for lists, of two elements. Rows without values have the weight of the requests with
    both attributes."""
    names = sorted({name for pair in pairs for name in pair})
    fields = (F.expr(column_sql(name)).alias(f"v{place}") for place, name in enumerate(names))
    chosen = [(schema[name].type.is_list, list(values[name])) for name in names]
    places = [(names.index(first), names.index(second)) for first, second in pairs]
    return (
        good.select(WEIGHT, *fields)
        .mapInArrow(_counter(places, chosen), from_arrow_schema(_COUNTED))
        .groupBy("pair", "first", "second")
        .agg(F.sum(WEIGHT).alias(WEIGHT))
    )


def pair_presence(tally: DataFrame) -> DataFrame:
    """For each `pair`, the `weight` of the requests with both attributes."""
    return tally.where(F.col("first").isNull()).select("pair", WEIGHT)


def common_pairs(tally: DataFrame, most: int) -> DataFrame:
    """The `most` common values of each `pair`, with their `rank`."""
    return heaviest(tally.where(F.col("first").isNotNull()), "pair", ["first", "second"], most)


def _counter(
    pairs: list[tuple[int, int]], chosen: list[tuple[bool, list[bool | int | float | str]]]
) -> Callable[[Batches], Batches]:
    """The function that counts the batches of a task."""

    def count(batches: Batches) -> Batches:
        for batch in batches:
            yield from pa.concat_tables(_count(batch, pairs, chosen)).to_batches()

    return count


def _count(
    batch: pa.RecordBatch,
    pairs: list[tuple[int, int]],
    chosen: list[tuple[bool, list[bool | int | float | str]]],
) -> Iterator[pa.Table]:
    weights = batch.column(WEIGHT)
    columns = [batch.column(f"v{place}") for place in range(len(chosen))]
    among = [_among(column, *which) for column, which in zip(columns, chosen, strict=True)]
    for number, (first, second) in enumerate(pairs):
        both = pc.and_(pc.is_valid(columns[first]), pc.is_valid(columns[second]))
        whole = pc.sum(weights.filter(both)).as_py() or 0
        yield pa.Table.from_pylist([{"pair": number, WEIGHT: whole}], schema=_COUNTED)
        yield _together(number, among[first], among[second], weights)


def _among(column: pa.Array, is_list: bool, values: list[bool | int | float | str]) -> pa.Table:
    """The values of an attribute that are among `values`, as text, each with its row number."""
    if is_list:
        owners, found = elements(column)
    else:
        owners, found = pa.array(range(len(column)), pa.int64()), column
    kept = pc.is_in(found, value_set=pa.array(values, found.type))
    texts = found.filter(kept).cast(pa.string())
    return pa.table({"owner": owners.filter(kept).cast(pa.int64()), "value": texts})


def _together(number: int, first: pa.Table, second: pa.Table, weights: pa.Array) -> pa.Table:
    joined = first.join(second, "owner", join_type="inner", right_suffix=" too")
    owned = weights.take(joined["owner"].combine_chunks())
    table = pa.table({"first": joined["value"], "second": joined["value too"], WEIGHT: owned})
    sums = table.group_by(["first", "second"]).aggregate([(WEIGHT, "sum")])
    numbers = pa.repeat(pa.scalar(number, pa.int32()), len(sums))
    return pa.table(
        [numbers, sums["first"], sums["second"], sums[f"{WEIGHT}_sum"]], schema=_COUNTED
    )
