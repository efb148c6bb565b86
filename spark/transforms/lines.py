"""Reads lines of the log: JSON, then the types of the catalogue.

    b'{"time": …, "attributes": {"age": 30, "colour": "red"}}'  ──▶  age = 30
    b'{"time": …, "attributes": {"age": "old"}}'                ──▶  problem = "wrong_type"

Each line gives exactly one row. Values are checked a column at a time; only a row with a value that
looks wrong is checked by itself, by the rules of the index (`check_event`), so a row is good if the
service would take its attributes.

Spark's own reader of JSON is not used: it takes two objects on a line for one, a list for several,
and drops others without a trace.
"""

import json
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from index import Attribute, EventError, Schema
from index.event import check_event
from index.language import Type
from index.language.types import BadValue, check_scalar
from spark.columns import ARROW_TYPES, BUILT_INS, DAY, HOURS, LINE, WEEKDAYS
from spark.transforms.arrow import Batches
from spark.transforms.counts import Counts
from spark.transforms.rows import (
    NOT_FINITE,
    NOT_JSON,
    NULL_ELEMENT,
    WRONG_TYPE,
    Content,
    Request,
    Rows,
    checked_rows,
)

_NOTHING = type(None)
_PYTHON: dict[Type, frozenset[type]] = {
    Type.BOOL: frozenset({bool}),
    Type.INT: frozenset({int}),
    Type.FLOAT: frozenset({int, float}),
    Type.STRING: frozenset({str}),
    Type.VERSION: frozenset({str}),
    Type.IP: frozenset({str}),
    Type.POINT: frozenset(),
}
CHECKED = frozenset({Type.VERSION, Type.IP, Type.POINT})
"""Types whose values are checked one by one."""
_NUMBERS = frozenset({int, float, _NOTHING})
_PROBLEM_OF = {"value.not_finite": NOT_FINITE}

Attributes = dict[str, Any]
_Line = tuple[float | None, str | None, float | None, Attributes | None, Attributes | None]


class LineReader:
    """Reads batches of lines (`day`, and the bytes in `line`)."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._kinds = {each.name: each.type for each in attributes}
        self._schema = Schema(attributes)

    def rows(self, batches: Batches) -> Iterator[Rows]:
        return map(self.read, batches)

    def read(self, batch: pa.RecordBatch) -> Rows:
        """The rows of a batch."""
        return self.judged(batch.column(LINE).to_pylist(), batch.column(DAY).to_pylist())

    def judged(self, texts: Sequence[bytes], days: Sequence[str]) -> Rows:
        """The rows of some lines, of the days of their directories."""
        problems: list[str | None] = [None] * len(texts)
        lines = [_read(text) for text in texts]
        for place, line in enumerate(lines):
            if type(line) is str:
                problems[place] = line
                lines[place] = _NO_LINE
        times, ids, rates, attributes, builtins = zip(*lines, strict=True) if lines else [()] * 5
        columns = gathered(attributes, self._kinds)
        counted = {name: _checked(values, self._kinds[name]) for name, values in columns.items()}
        wrong = {name for name, column in counted.items() if column is None}
        known = {name: column for name, column in counted.items() if column is not None}
        return checked_rows(
            days=days,
            times=np.array(times, np.float64),
            ids=ids,
            rates=np.array(rates, np.float64),
            present=[each is not None for each in attributes],
            problems=self._checked(attributes, wrong, problems),
            content=LineContent(self._kinds, attributes, builtins, texts, None if wrong else known),
        )

    def _checked(
        self,
        rows: Sequence[Attributes | None],
        wrong: Collection[str],
        problems: list[str | None],
    ) -> list[str | None]:
        """The problems, with those of values that the service would refuse; `wrong` are the
        attributes with a value that looks wrong."""
        for place, row in enumerate(rows if wrong else ()):
            if row and problems[place] is None and any(name in row for name in wrong):
                problems[place] = self._problem(row)
        return problems

    def _problem(self, attributes: Attributes) -> str | None:
        """The problem of a row by the rules of the index."""
        counted = {name: attributes[name] for name in self._kinds if name in attributes}
        try:
            check_event(counted, self._schema)
        except EventError as error:
            first = error.problems[0]
            element = first.element
            if element is not None and counted[first.attribute][element] is None:
                return NULL_ELEMENT
            return _PROBLEM_OF.get(first.code, WRONG_TYPE)
        return None


class LineContent:
    """What lines say, beside their time, id and rate."""

    def __init__(
        self,
        kinds: Mapping[str, Type],
        attributes: Sequence[Attributes | None],
        builtins: Sequence[Attributes | None],
        texts: Sequence[bytes] = (),
        counted: "Mapping[str, _Column] | None" = None,
    ) -> None:
        self._kinds = kinds
        self._attributes = attributes
        self._builtins = builtins
        self._texts = texts
        self._counted = counted

    def count(self, counts: Counts, places: Sequence[int], weight: int) -> None:
        counted = self._counted
        if counted is None or len(places) < len(self._attributes):
            columns = gathered(self._rows(places), self._kinds)
            counted = {name: _column(some, self._kinds[name]) for name, some in columns.items()}
        for name, column in counted.items():
            if self._kinds[name].is_list or self._kinds[name] is Type.POINT:
                counts.add_lists(name, weight, column.present, column.empty)
            counts.add(name, weight, column.values)

    def by_row(self) -> Content:
        return self

    def chosen(self, places: Sequence[int]) -> Content:
        builtins = [self._builtins[place] for place in places]
        return LineContent(self._kinds, self._rows(places), builtins)

    def requests(self) -> list[Request]:
        rows = zip(self._attributes, self._builtins, strict=True)
        return [(attributes or {}, builtins or {}) for attributes, builtins in rows]

    def record(self, place: int) -> str:
        return self._texts[place].decode(errors="replace")

    def structs(self, places: Sequence[int]) -> tuple[pa.Array, pa.Array]:
        rows = self._rows(places)
        found: dict[str, tuple[list[int], list[Any]]] = {name: ([], []) for name in self._kinds}
        for place, row in enumerate(rows):  # a row has few of the attributes
            for name, value in (row or {}).items():
                if name in found and value is not None:
                    found[name][0].append(place)
                    found[name][1].append(value)
        columns = {
            name: _spread(of, _array(values, self._kinds[name]), len(rows))
            for name, (of, values) in found.items()
        }
        builtins = [self._builtins[place] for place in places]
        hours = {
            name: pa.array([row.get(name) if row else None for row in builtins], pa.int64())
            for name in BUILT_INS
        }
        return (
            struct_of(columns, pa.array([row is None for row in rows], pa.bool_())),
            struct_of(hours, pa.array([row is None for row in builtins], pa.bool_())),
        )

    def _rows(self, places: Sequence[int]) -> Sequence[Attributes | None]:
        if len(places) == len(self._attributes):
            return self._attributes
        return [self._attributes[place] for place in places]


def gathered(rows: Iterable[Attributes | None], kinds: Mapping[str, Type]) -> dict[str, list[Any]]:
    """The values of each attribute, without nulls."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        if row:
            for name, value in row.items():
                if value is not None:
                    try:
                        found[name].append(value)
                    except KeyError:
                        found[name] = [value]
    return {name: values for name, values in found.items() if name in kinds}


_NO_LINE: _Line = (None, None, None, None, None)


def _read(text: bytes) -> _Line | str:
    """What a line says, or its problem."""
    try:
        line = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:  # orjson refuses numbers too large for a double, which have a problem of their own
            line = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return NOT_JSON
    if type(line) is not dict:
        return NOT_JSON
    get = line.get
    time, id, rate = get("time"), get("request_id"), get("sample_rate")
    attributes, builtins = get("attributes"), get("builtins")
    if (
        type(time) not in _NUMBERS
        or type(rate) not in _NUMBERS
        or type(id) not in (str, _NOTHING)
        or type(attributes) not in (dict, _NOTHING)
        or type(builtins) not in (dict, _NOTHING)
        or (builtins and not _are_builtins(builtins))
        or (id and not _is_text(id))
    ):
        return WRONG_TYPE
    if not (_is_finite(time) and _is_finite(rate)):
        return NOT_FINITE
    return time, id, rate, attributes, builtins


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number in JSON")


def _are_builtins(builtins: Attributes) -> bool:
    hour, weekday = builtins.get("now.hour", 1), builtins.get("now.weekday", 1)
    return type(hour) is int and type(weekday) is int and hour in HOURS and weekday in WEEKDAYS


def _is_finite(number: float | None) -> bool:
    return number is None or abs(number) <= sys.float_info.max


def _is_text(id: str) -> bool:
    """Whether it can be written as UTF-8; only the slower parser lets a lone surrogate through."""
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_value(value: object, kind: Type) -> bool:
    """Whether a value is of a type, by the rules of the index."""
    try:
        check_scalar(value, kind)
    except BadValue:
        return False
    return True


class _Column(NamedTuple):
    """The values of an attribute in a batch, and the number of rows that have it; for lists, the
    elements, each once for a row, and the number of empty ones."""

    values: Counter[Any]
    present: int
    empty: int


def _column(values: Sequence[Any], kind: Type) -> _Column:
    empty = 0
    counted: Counter[Any]
    if kind.is_list:
        counted = Counter(chain.from_iterable(map(set, values)))
        empty = sum(1 for each in values if not each)
    elif kind is Type.POINT:  # hardly two are alike
        counted = Counter()
    else:  # 1 and 1.0 are one float
        counted = Counter(map(float, values) if kind is Type.FLOAT else values)
    return _Column(counted, len(values), empty)


def _checked(values: Sequence[Any], kind: Type) -> _Column | None:
    """The column, if all values are certainly of the type; checked and counted at the speed of C.
    A value that occurs often is hashed once, and checked once."""
    if kind.is_list and set(map(type, values)) != {list}:
        return None
    if kind is Type.POINT and not all(is_value(value, kind) for value in values):
        return None
    try:
        column = _column(values, kind)
        # 1, 1.0 and true are equal, so only texts may be checked once each.
        scalars: Iterable[Any] = column.values
        if kind.element in (Type.BOOL, Type.INT, Type.FLOAT):
            scalars = list(chain.from_iterable(values)) if kind.is_list else values
        if not set(map(type, scalars)) <= _PYTHON[kind.element]:
            return None
        if kind in CHECKED:
            return column if all(is_value(value, kind) for value in column.values) else None
        # An integer that no float equals is an error of `array`.
        different = set(scalars) if kind.element is Type.FLOAT else list(column.values)
        array = pa.array(different, ARROW_TYPES[kind.element])
    except (TypeError, ValueError, OverflowError):
        return None
    if kind.element is Type.FLOAT and not pc.all(pc.is_finite(array)).as_py():
        return None
    return None if kind.element is Type.STRING and has_nul(array) else column


def has_nul(texts: pa.Array) -> bool:
    """Whether a text has a NUL. Without a zero among the bytes of them all, none has."""
    data = texts.buffers()[-1]
    if data is None or not data.size or np.frombuffer(data, np.uint8).all():
        return False
    return bool(pc.any(pc.match_substring(texts, "\0")).as_py())


def _array(values: Sequence[Any], kind: Type) -> pa.Array:
    if kind is Type.FLOAT:
        return pa.array(map(float, values), pa.float64())
    return pa.array(values, ARROW_TYPES[kind])


def _spread(places: list[int], array: pa.Array, size: int) -> pa.Array:
    """The values at their places in a column of `size` rows; the other rows are null."""
    order = np.full(size, -1, np.int32)
    order[places] = np.arange(len(places), dtype=np.int32)
    return array.take(pa.array(order, mask=order < 0))


def struct_of(arrays: Mapping[str, pa.Array], missing: pa.Array) -> pa.Array:
    """A column of structs that are null where they are `missing`."""
    if not arrays:  # a catalogue without attributes: a struct cannot be empty
        return pa.nulls(len(missing), pa.struct([]))
    return pa.StructArray.from_arrays(list(arrays.values()), names=list(arrays), mask=missing)
