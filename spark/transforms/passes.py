"""The one pass over a log that a job makes, in the workers of Spark (`mapInArrow`).

counted      sums of values, a sample, the malformed rows: what the statistics need
checked      every row in columns, with its weight or its problem: what a forecast matches
malformed    the malformed rows alone
"""

import gc
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from index import Attribute
from spark.columns import CHECKED_COLUMNS, checked_row
from spark.transforms.arrow import Batches
from spark.transforms.counts import MOST_VALUES, Counts
from spark.transforms.found import BAD, FOUND, SAMPLE, SLICES, SUMS, batch_of, sliced
from spark.transforms.rows import Reader, Rows
from spark.transforms.sampler import Sampler

_FEW = 16
"""Different weights in a batch up to which counting whole columns for each of them is faster."""


def counted(
    raw: DataFrame, reader: Reader, attributes: list[Attribute], sample: int, tasks: int
) -> DataFrame:
    """What each task found (`FOUND`), for other `tasks` to add it up."""
    counter = _counter(reader, attributes, sample, tasks * SLICES)
    return raw.mapInArrow(counter, from_arrow_schema(FOUND))


def checked(raw: DataFrame, reader: Reader, attributes: list[Attribute]) -> DataFrame:
    """A row for each row of the log, with the columns of `checked_row`."""

    def check(batches: Batches) -> Batches:
        yield from map(_columns, reader.rows(batches))

    return raw.mapInArrow(check, checked_row(attributes))


def malformed(raw: DataFrame, reader: Reader) -> DataFrame:
    """The malformed rows (`FOUND`)."""

    def find(batches: Batches) -> Batches:
        for rows in reader.rows(batches):
            yield from _malformed(rows)

    return raw.mapInArrow(find, from_arrow_schema(FOUND))


def _counter(
    reader: Reader, attributes: list[Attribute], sample: int, slices: int
) -> Callable[[Batches], Batches]:
    def count(batches: Batches) -> Batches:
        gc.disable()  # millions of objects without a cycle: looking for one takes half of the time
        counts, sampler = Counts(), Sampler(sample, attributes)
        for rows in reader.rows(batches):
            _count(rows, counts)
            sampler.add(rows)
            yield from _malformed(rows)
            if len(counts) > MOST_VALUES:
                yield from sliced(SUMS, counts.sent(), "value", slices)
        yield from sliced(SUMS, counts.sent(), "value", slices)
        yield from sliced(SAMPLE, sampler.sent(), "lot", slices)

    return count


def _count(rows: Rows, counts: Counts) -> None:
    by_weight: dict[int, Sequence[int]] = {}
    weights = rows.weights[rows.good]
    if len(weights) and (weights == weights[0]).all():
        by_weight[int(weights[0])] = rows.good
    else:
        for place, weight in zip(rows.good, weights.tolist(), strict=True):
            by_weight.setdefault(weight, []).append(place)  # type: ignore[attr-defined]
    content = rows.content if len(by_weight) <= _FEW else rows.content.by_row()
    for weight, places in by_weight.items():
        content.count(counts, places, weight)
        for day, number in Counter(rows.days[place] for place in places).items():
            counts.add_day(day, weight, number)
    if len(rows.good) < len(rows.problems):
        for day, problem in zip(rows.days, rows.problems, strict=True):
            if problem is not None:
                counts.add_problem(day, problem)


def _malformed(rows: Rows) -> Batches:
    places = [place for place, problem in enumerate(rows.problems) if problem is not None]
    if places:
        yield batch_of(
            FOUND,
            kind=[BAD] * len(places),
            day=[rows.days[place] for place in places],
            problem=[rows.problems[place] for place in places],
            record=list(map(rows.content.record, places)),
        )


def _columns(rows: Rows) -> pa.RecordBatch:
    """Good rows, then malformed ones, which have a day and a problem alone."""
    good = rows.good
    bad = [place for place, problem in enumerate(rows.problems) if problem is not None]
    chosen, nothing = np.array(good, np.int64), len(bad)
    attributes, builtins = rows.content.structs(good)
    columns = [
        pa.array([rows.days[place] for place in [*good, *bad]], pa.string()),
        _padded(pa.array(rows.times[chosen], pa.float64()), nothing),
        _padded(pa.array([rows.ids[place] for place in good], pa.string()), nothing),
        _padded(pa.array(rows.rates[chosen], pa.float64()), nothing),
        _padded(attributes, nothing),
        _padded(builtins, nothing),
        _padded(pa.array(rows.weights[chosen], pa.int64()), nothing),
        pa.array([rows.problems[place] for place in [*good, *bad]], pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=CHECKED_COLUMNS)


def _padded(column: pa.Array, nulls: int) -> pa.Array:
    return pa.concat_arrays([column, pa.nulls(nulls, column.type)]) if nulls else column
