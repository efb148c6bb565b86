"""The figures of a log, of what the tasks found. Spark brings tables together, Python adds them up.

    found ──▶ a task for some slices ──▶ sums of its values: overview, common, sample ──▶ one task
                                   └──▶ all its numbers ──▶ a task for each attribute: histogram

Only what the options bound reaches the one task, and the driver, which does its work where there is
little of it. A histogram is made by one task, which has all different values of its attribute in
memory: 16 bytes each, and twice that to sort.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from index import Attribute
from spark.transforms import sums
from spark.transforms.arrow import Batches, packed, unpacked
from spark.transforms.counts import DAY, EMPTY, PRESENT, PROBLEM, VALUE
from spark.transforms.found import BAD, SAMPLE, SUMS, batch_of
from spark.transforms.histogram import Range, histogram
from spark.weights import UNIT

_OVERVIEW, _COMMON, _NUMBERS = "overview", "common", "numbers"
_PIECE = pa.schema([("kind", pa.string()), ("name", pa.string()), ("data", pa.binary())])
_PIECES = from_arrow_schema(_PIECE)
_FEW = 8
"""Tasks whose tables the driver adds up itself: another task takes Spark most of a second."""


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
class Summary:
    """By day and by attribute; those that no row has are not there."""

    days: dict[str, Whole] = field(default_factory=dict)
    attributes: dict[str, Presence] = field(default_factory=lambda: defaultdict(Presence))
    problems: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """The number of malformed rows by day and problem."""
    common: dict[str, list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    """The commonest values, as text, and their weights."""
    sample: list[dict[str, Any]] = field(default_factory=list)
    """The rows of the sample, as `campaigns.statistics.sample` packs them."""


def added_up(
    found: DataFrame, attributes: Sequence[Attribute], values: int, sample: int, tasks: int
) -> DataFrame:
    """The tables of each of these tasks (`summary` and `histograms` read them: persist it)."""

    def add(batches: Batches) -> Batches:
        tables = _tables(batches)
        if SUMS in tables:
            summed = sums.summed(tables[SUMS], attributes)
            yield _piece(_OVERVIEW, sums.overview(sums.by_kind(summed)))
            of_attributes = sums.values_of(summed)
            yield _piece(_COMMON, sums.common(of_attributes, values))
            for name, numbers in sums.numbers_of(of_attributes, attributes):
                yield _piece(_NUMBERS, numbers, name)
        if SAMPLE in tables:
            yield _piece(SAMPLE, sums.least(pa.concat_tables(tables[SAMPLE]), sample))

    some = found.where(F.col("kind") != BAD).select("kind", "slice", "data")
    return some.repartition(tasks, "slice").mapInArrow(add, _PIECES)


def summary(
    added: DataFrame, attributes: Iterable[Attribute], values: int, sample: int, tasks: int
) -> Summary:
    """The summary of what these tasks added up."""
    reduce: dict[str, Callable[[pa.Table], pa.Table]] = {
        _OVERVIEW: sums.overview,
        _COMMON: partial(sums.common, most=values),
        SAMPLE: partial(sums.least, most=sample),
    }

    def add(tables: Mapping[str, list[pa.Table]]) -> dict[str, pa.Table]:
        return {kind: reduce[kind](pa.concat_tables(some)) for kind, some in tables.items()}

    def add_pieces(batches: Batches) -> Batches:
        for kind, table in add(_tables(batches)).items():
            yield _piece(kind, table)

    pieces = added.where(F.col("kind") != _NUMBERS)
    if tasks > _FEW:
        pieces = pieces.repartition(1).mapInArrow(add_pieces, _PIECES)
    found = defaultdict(list)
    for row in pieces.collect():
        found[row["kind"]].append(unpacked(row["data"]))
    tables = {kind: table.to_pylist() for kind, table in add(found).items()}
    made = Summary()
    _overview(made, tables.get(_OVERVIEW, []), attributes)
    for row in tables.get(_COMMON, []):
        made.common[row["name"]].append((row["value"], row["weight"]))
    for row in tables.get(SAMPLE, []):
        said = orjson.loads(row["text"])
        del said["time"]  # it only decides between rows with the same id
        made.sample.append({**said, "weight": row["weight"] / UNIT, "day": row["day"]})
    return made


def histograms(
    added: DataFrame, common: Mapping[str, Sequence[float]], ranges: int
) -> dict[str, list[Range]]:
    """The histogram of each of these attributes, without its common values."""

    def make(batches: Batches) -> Batches:
        numbers = defaultdict(list)
        for batch in batches:
            for row in batch.to_pylist():
                numbers[row["name"]].append(unpacked(row["data"]))
        for name, tables in numbers.items():
            made = histogram(pa.concat_tables(tables), common[name], ranges)
            yield batch_of(_PIECE, name=[name], data=[orjson.dumps(made)])

    if not common:
        return {}
    some = added.where((F.col("kind") == _NUMBERS) & F.col("name").isin(*common))
    made = some.repartition(len(common), "name").mapInArrow(make, _PIECES).collect()
    return {row["name"]: list(map(tuple, orjson.loads(row["data"]))) for row in made}


def _tables(batches: Batches) -> dict[str, list[pa.Table]]:
    found = defaultdict(list)
    for batch in batches:
        for row in batch.select(["kind", "data"]).to_pylist():
            found[row["kind"]].append(unpacked(row["data"]))
    return found


def _piece(kind: str, table: pa.Table, name: str | None = None) -> pa.RecordBatch:
    return batch_of(_PIECE, kind=[kind], name=[name], data=[packed(table)])


def _overview(
    made: Summary, rows: Iterable[Mapping[str, Any]], attributes: Iterable[Attribute]
) -> None:
    """A scalar is present as often as its values are."""
    lists = {each.name for each in attributes if each.type.is_list}
    for row in rows:
        kind, name, weight = row["kind"], row["name"], row["weight"]
        if kind == DAY:
            made.days[name] = Whole(row["rows"], weight)
        elif kind == PROBLEM:
            made.problems[name][row["problem"]] = row["rows"]
        elif kind == EMPTY:
            made.attributes[name].empty = weight
        elif kind == PRESENT:
            made.attributes[name].present += weight
        elif kind == VALUE:
            made.attributes[name].distinct = row["values"]
            made.attributes[name].present += 0 if name in lists else weight
