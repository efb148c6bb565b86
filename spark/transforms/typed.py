"""Reads typed columns of the log: Parquet files and tables.

The types have been compared with the catalogue; what is left are values that the service would
refuse: a null in a list, a number that is not finite, a NUL in a string, an hour 24.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from index import Attribute
from index.language import Type
from spark.columns import BUILT_INS, DAY
from spark.transforms.arrow import Batches
from spark.transforms.counts import Counts
from spark.transforms.lines import CHECKED, LineContent, has_nul, is_value
from spark.transforms.rows import (
    NOT_FINITE,
    NULL_ELEMENT,
    WRONG_TYPE,
    Content,
    Request,
    Rows,
    checked_rows,
)


class TypedReader:
    """Reads batches with the columns of `typed_row`."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._attributes = list(attributes)

    def rows(self, batches: Batches) -> Iterator[Rows]:
        return map(self.read, batches)

    def read(self, batch: pa.RecordBatch) -> Rows:
        """The rows of a batch."""
        content = _TypedContent(self._attributes, batch)
        attributes = batch.column("attributes")
        return checked_rows(
            days=batch.column(DAY).to_pylist(),
            times=_floats(batch.column("time")),
            ids=batch.column("request_id").to_pylist(),
            rates=_floats(batch.column("sample_rate")),
            present=attributes.is_valid().to_pylist(),
            problems=content.problems(),
            content=content,
        )


class _TypedContent:
    """The columns of the attributes, without their struct."""

    def __init__(self, attributes: Sequence[Attribute], batch: pa.RecordBatch) -> None:
        self._batch = batch
        # A row without attributes has nulls in all of them.
        columns = batch.column("attributes").flatten()
        self._columns = list(zip(attributes, columns, strict=True))

    def problems(self) -> list[str | None]:
        found: list[str | None] = [None] * self._batch.num_rows
        builtins = self._batch.column("builtins")
        for name, column in zip(BUILT_INS, builtins.flatten(), strict=True):
            for place in _outside(BUILT_INS[name], column):
                found[place] = WRONG_TYPE
        for problem, wrong in (
            (NULL_ELEMENT, _null_elements),
            (NOT_FINITE, _not_finite),
            (WRONG_TYPE, _wrong_values),
        ):
            for attribute, column in self._columns:
                for place in wrong(attribute.type, column):
                    found[place] = found[place] or problem
        return found

    def count(self, counts: Counts, places: Sequence[int], weight: int) -> None:
        every = len(places) == self._batch.num_rows
        chosen = None if every else pa.array(places, pa.int64())
        for attribute, column in self._columns:
            some = (column if chosen is None else column.take(chosen)).drop_null()
            if not len(some):
                continue
            name, values = attribute.name, some
            if attribute.type.is_list:
                empty = pc.sum(pc.equal(pc.list_value_length(some), 0)).as_py() or 0
                counts.add_lists(name, weight, len(some), empty)
                counts.add(name, weight, _elements(some))
                continue
            if attribute.type is Type.POINT:  # hardly two are alike
                counts.add_lists(name, weight, len(some), 0)
                continue
            if attribute.type is Type.FLOAT:
                values = pc.add(some, 0.0)  # -0.0 and 0.0 are one value
            counted = values.value_counts().flatten()
            pairs = zip(*(column.to_pylist() for column in counted), strict=True)
            counts.add(name, weight, dict(pairs))

    def by_row(self) -> Content:
        rows = self.requests()
        kinds = {attribute.name: attribute.type for attribute, _ in self._columns}
        return LineContent(kinds, [row for row, _ in rows], [each for _, each in rows])

    def chosen(self, places: Sequence[int]) -> Content:
        attributes = [attribute for attribute, _ in self._columns]
        return _TypedContent(attributes, self._batch.take(pa.array(places, pa.int64())))

    def requests(self) -> list[Request]:
        found: list[Request] = [({}, {}) for _ in range(self._batch.num_rows)]
        for attribute, column in self._columns:
            there = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist()
            for place, value in zip(there, column.drop_null().to_pylist(), strict=True):
                found[place][0][attribute.name] = value
        builtins = self._batch.column("builtins").to_pylist()
        for (_, built_in), row in zip(found, builtins, strict=True):
            built_in |= {name: row[name] for name in BUILT_INS if row and row[name] is not None}
        return found

    def record(self, place: int) -> str:
        row = self._batch.slice(place, 1).to_pylist()[0]
        attributes = row["attributes"]
        if attributes is not None:
            row["attributes"] = {name: v for name, v in attributes.items() if v is not None}
        return orjson.dumps({name: v for name, v in row.items() if name != DAY}).decode()

    def structs(self, places: Sequence[int]) -> tuple[pa.Array, pa.Array]:
        chosen = pa.array(places, pa.int64())
        attributes, builtins = (
            self._batch.column(name).take(chosen) for name in ("attributes", "builtins")
        )
        return attributes, builtins


def _floats(column: pa.Array) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = column.fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return found


def _elements(lists: pa.Array) -> dict[Any, int]:
    """The number of lists that have each element; one may have it twice."""
    values = pc.list_flatten(lists).dictionary_encode()
    size = len(values.dictionary)
    owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = owners * size + values.indices.to_numpy(zero_copy_only=False)
    pairs.sort()
    once = pairs[np.diff(pairs, prepend=-1) != 0]
    lists_with = np.bincount(once % max(size, 1), minlength=size).tolist()
    return dict(zip(values.dictionary.to_pylist(), lists_with, strict=True))


def _null_elements(kind: Type, column: pa.Array) -> Iterator[int]:
    if kind.is_list and pc.list_flatten(column).null_count:
        yield from _owners(column, pc.is_null(pc.list_flatten(column)))


def _not_finite(kind: Type, column: pa.Array) -> Iterator[int]:
    if kind is Type.FLOAT:
        yield from _places(pc.invert(pc.is_finite(column)))


def _wrong_values(kind: Type, column: pa.Array) -> Iterator[int]:
    if kind in CHECKED:
        for place, value in enumerate(column.to_pylist()):
            if value is not None and not is_value(value, kind):
                yield place
    elif kind is Type.STRING and has_nul(column):
        yield from _places(pc.match_substring(column, "\0"))
    elif kind is Type.STRING_LIST and has_nul(pc.list_flatten(column)):
        yield from _owners(column, pc.match_substring(pc.list_flatten(column), "\0"))


def _outside(values: range, column: pa.Array) -> Any:
    """The places of integers that are not among these values; a null is none."""
    return _places(pc.or_(pc.less(column, values.start), pc.greater_equal(column, values.stop)))


def _places(wrong: pa.Array) -> Any:
    return np.flatnonzero(wrong.fill_null(False).to_numpy(zero_copy_only=False))


def _owners(lists: pa.Array, wrong: pa.Array) -> Any:
    return pc.list_parent_indices(lists).filter(wrong.fill_null(False)).to_pylist()
