"""Sums the matches of requests in a Python worker, by expression and day.

    add(day, weight, [2, 5])   ──▶   places   2 5 | 2 | …      the matches of all requests
                                     ends     2     3   …      where the places of a request end
                                     days, weights             one for each request

A request may match thousands of expressions, so no Python code runs for a match: Arrow groups the
places of many requests at once, whenever there are `AT_ONCE`. (Tried and rejected: an object for
each sum in a dict took four times as long, and longer than matching.)
"""

from array import array
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

AT_ONCE = 2**20
_SUMMED = ("count", "weight", "squares")
_SCHEMA = pa.schema(
    [
        ("place", pa.int64()),
        ("day", pa.string()),
        ("count", pa.int64()),
        ("weight", pa.int64()),
        ("squares", pa.float64()),
    ]
)


class HitCounter:
    """Sums by place and day; weights are integers, so their sums are exact."""

    def __init__(self) -> None:
        self._summed = _SCHEMA.empty_table()
        self._clear()

    def add(self, day: str, weight: int, places: Sequence[int]) -> None:
        """Count a request that matched the expressions at these places, each once."""
        self._places.extend(places)
        self._ends.append(len(self._places))
        self._days.append(day)
        self._weights.append(weight)
        if len(self._places) >= AT_ONCE:
            self._sum_up()

    def table(self) -> pa.Table:
        """`place`, `day`, `count`, `weight` and `squares` of the places with at least one hit."""
        self._sum_up()
        return self._summed

    def _clear(self) -> None:
        self._places, self._ends = array("q"), array("i", [0])
        self._days: list[str] = []
        self._weights: list[int] = []

    def _sum_up(self) -> None:
        places = _numbers(self._places, pa.int64())
        owners = pc.list_parent_indices(
            pa.ListArray.from_arrays(_numbers(self._ends, pa.int32()), places)
        )
        weights = pa.array(self._weights, pa.int64())
        floats = weights.cast(pa.float64())
        some = pa.table(
            [
                places,
                pa.array(self._days, pa.string()).take(owners),
                pa.repeat(pa.scalar(1, pa.int64()), len(places)),
                weights.take(owners),
                pc.multiply(floats, floats).take(owners),
            ],
            schema=_SCHEMA,
        )
        self._clear()
        self._summed = _grouped(pa.concat_tables([self._summed, _grouped(some)]))


def _grouped(rows: pa.Table) -> pa.Table:
    summed = rows.group_by(["place", "day"], use_threads=False).aggregate(
        [(name, "sum") for name in _SUMMED]
    )
    named = ["place", "day", *(f"{name}_sum" for name in _SUMMED)]
    return summed.select(named).rename_columns(_SCHEMA.names)


def _numbers(some: "array[int]", type: pa.DataType) -> pa.Array:
    """A Python array as an Arrow array, without a copy."""
    return pa.Array.from_buffers(type, len(some), [None, pa.py_buffer(some)])
