"""From lines of the log to typed rows: JSON, then the types of the catalogue.

    b'{"time": …, "attributes": {"age": 30, "colour": "red"}}'  ──▶  attributes.age = 30
    b'{"time": …, "attributes": {"age": "old"}}'                ──▶  problem = "wrong_type"

Each line gives exactly one row, which keeps the text in `record`. Whole columns are checked at a
time; only a row with a value that looks wrong is checked by itself, by the rules of the index
(`check_event`), so a row is good if the service would take its attributes.

Spark's own reader of JSON is not used: it takes two objects on a line for one, a list for several,
and drops others without a trace.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from index import Attribute, EventError, Schema
from index.event import check_event
from index.language import Type
from spark.columns import ARROW_TYPES, BUILT_INS, ROW_COLUMNS, counted_attributes, row_type
from spark.transforms.arrow import Batches

NOT_JSON, WRONG_TYPE, NULL_ELEMENT, NOT_FINITE = (
    "not_json",
    "wrong_type",
    "null_element",
    "not_finite",
)

_NOTHING = type(None)
_PYTHON: dict[Type, frozenset[type]] = {
    Type.BOOL: frozenset({bool}),
    Type.INT: frozenset({int}),
    Type.FLOAT: frozenset({int, float}),
    Type.STRING: frozenset({str}),
}
_NUMBERS = frozenset({int, float, _NOTHING})
_PROBLEM_OF = {"value.not_finite": NOT_FINITE}


def parsed(lines: DataFrame, schema: Schema) -> DataFrame:
    """A row for each line (`day`, and its bytes in `value`), with the columns of `row_type`."""
    attributes = counted_attributes(schema)
    parser = Parser(attributes)

    def parse(batches: Batches) -> Batches:
        for batch in batches:
            yield parser.batch(batch.column("day"), batch.column("value"))

    return lines.mapInArrow(parse, row_type(attributes))


class _Line(NamedTuple):
    """What a line says, with nothing in place of what cannot be used."""

    time: float | None = None
    request_id: str | None = None
    sample_rate: float | None = None
    attributes: dict[str, Any] | None = None
    builtins: dict[str, Any] | None = None
    problem: str | None = None


class Parser:
    """Parses batches of lines."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._kinds = {each.name: each.type for each in attributes}
        self._schema = Schema(attributes)

    def batch(self, days: pa.Array, texts: pa.Array) -> pa.RecordBatch:
        """The rows of some lines."""
        lines = [_read(text) for text in texts.to_pylist()]
        problems = [line.problem for line in lines]
        rows = [line.attributes or {} for line in lines]
        attributes, suspects = self._columns(rows)
        if suspects:
            for place in suspects:
                rows[place], problem = self._checked(rows[place])
                problems[place] = problems[place] or problem
            attributes, _ = self._columns(rows)
        columns = [
            days,
            pa.array([line.time for line in lines], pa.float64()),
            pa.array([line.request_id for line in lines], pa.string()),
            pa.array([line.sample_rate for line in lines], pa.float64()),
            _struct(attributes, [line.attributes is None for line in lines]),
            _builtins([line.builtins for line in lines]),
            pa.array(problems, pa.string()),
            _as_text(texts),
        ]
        return pa.RecordBatch.from_arrays(columns, names=ROW_COLUMNS)

    def _columns(self, rows: Sequence[dict[str, Any]]) -> tuple[dict[str, pa.Array], set[int]]:
        """The column of each attribute, and the rows that have a value of another type."""
        found: dict[str, tuple[list[int], list[Any]]] = {name: ([], []) for name in self._kinds}
        for place, row in enumerate(rows):  # a row has few of the attributes
            for name, value in row.items():
                if name in found and value is not None:
                    places, values = found[name]
                    places.append(place)
                    values.append(value)
        columns, suspects = {}, set()
        for name, kind in self._kinds.items():
            places, values = found[name]
            array = _array(values, kind)
            if array is None:
                suspects |= {
                    place
                    for place, value in zip(places, values, strict=True)
                    if _array([value], kind) is None
                }
            else:
                columns[name] = _spread(places, array, len(rows))
        return columns, suspects

    def _checked(self, attributes: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """The attributes by the rules of the index: good as they are, or none and the problem."""
        counted = {name: attributes[name] for name in self._kinds if name in attributes}
        try:
            checked, _ = check_event(counted, self._schema)
        except EventError as error:
            first = error.problems[0]
            element = first.element
            if element is not None and counted[first.attribute][element] is None:
                return {}, NULL_ELEMENT
            return {}, _PROBLEM_OF.get(first.code, WRONG_TYPE)
        lists = {name: list(v) for name, v in checked.items() if isinstance(v, frozenset)}
        return {**checked, **lists}, None


def _read(text: bytes) -> _Line:
    try:
        line = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:  # orjson refuses numbers too large for a double, which have a problem of their own
            line = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return _Line(problem=NOT_JSON)
    if type(line) is not dict:
        return _Line(problem=NOT_JSON)
    time, id, rate = line.get("time"), line.get("request_id"), line.get("sample_rate")
    attributes, builtins = line.get("attributes"), line.get("builtins")
    if (
        type(time) not in _NUMBERS
        or type(rate) not in _NUMBERS
        or type(id) not in (str, _NOTHING)
        or type(attributes) not in (dict, _NOTHING)
        or type(builtins) not in (dict, _NOTHING)
        or (builtins and not _are_builtins(builtins))
    ):
        return _Line(problem=WRONG_TYPE)
    if not (_is_finite(time) and _is_finite(rate)):
        return _Line(problem=NOT_FINITE)
    return _Line(time, id, rate, attributes, builtins)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number in JSON")


def _are_builtins(builtins: dict[str, Any]) -> bool:
    hour, weekday = (builtins.get(name, 1) for name in BUILT_INS)
    return type(hour) is int and type(weekday) is int and 0 <= hour < 24 and 1 <= weekday <= 7


def _is_finite(number: float | None) -> bool:
    return number is None or abs(number) <= sys.float_info.max


def _array(values: Sequence[Any], kind: Type) -> pa.Array | None:
    """The values as an array; None if one of them may not be of the type. Whole columns are checked
    at the speed of C."""
    scalars: Iterable[Any] = values
    if kind.is_list:
        if not set(map(type, values)) <= {list}:
            return None
        scalars = chain.from_iterable(values)
    if not set(map(type, scalars)) <= _PYTHON[kind.element]:
        return None
    try:
        array = pa.array(values, ARROW_TYPES[kind])
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
        return None
    return None if kind.element is Type.STRING and _has_nul(array) else array


def _has_nul(array: pa.Array) -> bool:
    texts = array.flatten() if pa.types.is_list(array.type) else array
    return bool(pc.any(pc.match_substring(texts, "\0")).as_py())


def _spread(places: list[int], array: pa.Array, size: int) -> pa.Array:
    """The values at their places in a column of `size` rows; the other rows are null."""
    order = np.full(size, -1, np.int32)
    order[places] = np.arange(len(places), dtype=np.int32)
    return array.take(pa.array(order, mask=order < 0))


def _as_text(lines: pa.Array) -> pa.Array:
    try:
        return lines.cast(pa.string())
    except pa.ArrowInvalid:  # not UTF-8
        return pa.array([line.decode(errors="replace") for line in lines.to_pylist()], pa.string())


def _struct(arrays: Mapping[str, pa.Array], missing: Sequence[bool]) -> pa.Array:
    mask = pa.array(missing, pa.bool_())
    if not arrays:  # a catalogue without attributes: a struct cannot be empty
        return pa.nulls(len(missing), pa.struct([]))
    return pa.StructArray.from_arrays(list(arrays.values()), names=list(arrays), mask=mask)


def _builtins(rows: Sequence[dict[str, Any] | None]) -> pa.Array:
    """None for a row without them."""
    arrays = {
        name: pa.array([row.get(name) if row else None for row in rows], pa.int64())
        for name in BUILT_INS
    }
    return _struct(arrays, [row is None for row in rows])
