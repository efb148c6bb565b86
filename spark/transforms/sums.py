"""Adds up what tasks found: pure functions of Arrow tables.

`overview`, `common` and `least` are used twice, for the values of a slice and then for all slices,
so what they return has the columns that they take.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from index import Attribute
from index.language import Type
from spark.transforms.counts import PROBLEM, VALUE

_EXACT = pa.decimal128(38)


def summed(tables: Iterable[pa.Table], attributes: Iterable[Attribute]) -> pa.Table:
    """The sums of tasks (`SUM`), added up: a row for each value of an attribute, each day, each
    problem of a day. Numbers also have their typed value, in `whole` or `real`."""
    added = _added(pa.concat_tables(tables), ["kind", "name", "value"])
    is_value, types = pc.equal(added["kind"], VALUE), {each.name: each.type for each in attributes}
    for column, type, arrow in (
        ("whole", Type.INT, pa.int64()),
        ("real", Type.FLOAT, pa.float64()),
    ):
        names = pa.array([name for name in types if types[name].element is type], pa.string())
        is_one = pc.and_(is_value, pc.is_in(added["name"], names))
        added = added.append_column(column, pc.if_else(is_one, added["value"], None).cast(arrow))
    return added


def by_kind(summed: pa.Table) -> pa.Table:
    """The rows that `overview` adds up: each value counts as one."""
    problem = pc.if_else(pc.equal(summed["kind"], PROBLEM), summed["value"], None)
    ones = pa.repeat(pa.scalar(1, pa.int64()), summed.num_rows)
    columns = [summed[name] for name in ("kind", "name", "weight", "rows")]
    return pa.table(
        [*columns, problem, ones], names=["kind", "name", "weight", "rows", "problem", "values"]
    )


def overview(rows: pa.Table) -> pa.Table:
    """By `kind`, `name` and `problem`: the `weight`, the number of `rows` and of `values`."""
    return _added(rows, ["kind", "name", "problem"])


def values_of(summed: pa.Table) -> pa.Table:
    """The values of attributes."""
    return summed.filter(pc.equal(summed["kind"], VALUE)).drop_columns(["kind", "rows"])


def common(values: pa.Table, most: int) -> pa.Table:
    """The `most` common values of each attribute, the commonest first. Ties go to the smaller
    value, so the same log always gives the same list."""
    ties = [(name, "ascending") for name in ("whole", "real", "value")]
    ordered = values.sort_by([("name", "ascending"), ("weight", "descending"), *ties])
    first = np.flatnonzero(_is_new(ordered["name"]))
    ranks = np.arange(len(ordered)) - np.repeat(first, np.diff(first, append=len(ordered)))
    return ordered.filter(pa.array(ranks < most))


def least(requests: pa.Table, most: int) -> pa.Table:
    """The `most` requests (`SAMPLED`) with the least hashes, in their order. Of those with the
    same id, the least: their order must not matter."""
    ordered = requests.sort_by([(name, "ascending") for name in requests.column_names])
    return ordered.filter(pa.array(_is_new(ordered["lot"]))).slice(0, most)


def numbers_of(values: pa.Table, attributes: Sequence[Attribute]) -> Iterator[tuple[str, pa.Table]]:
    """The values of each attribute that is a number, with their weights; elements of lists do not
    count."""
    for attribute in attributes:
        if attribute.type in (Type.INT, Type.FLOAT):
            some = values.filter(pc.equal(values["name"], attribute.name))
            column = "whole" if attribute.type is Type.INT else "real"
            yield attribute.name, pa.table({"value": some[column], "weight": some["weight"]})


def _added(table: pa.Table, by: list[str]) -> pa.Table:
    """The sums of all other columns. One that does not fit 64 bits is an error."""
    others = [name for name in table.column_names if name not in by]
    exact = pa.table(
        {name: table[name].cast(_EXACT) if name in others else table[name] for name in by + others}
    )
    added = exact.group_by(by).aggregate([(name, "sum") for name in others])
    return pa.table(
        {name: added[name] for name in by}
        | {name: added[f"{name}_sum"].cast(pa.int64()) for name in others}
    )


def _is_new(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Where a sorted column has another value than in the row before."""
    codes = column.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    is_new: npt.NDArray[np.bool_] = np.diff(codes, prepend=-1) != 0
    return is_new
