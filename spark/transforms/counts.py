"""The sums of one task, of values that the readers of its batches counted.

They are sent when the task ends, or earlier when they have many different values.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

VALUE, PRESENT, EMPTY, DAY, PROBLEM = "value", "present", "empty", "day", "problem"

SUM = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("value", pa.string()),
        ("weight", pa.int64()),
        ("rows", pa.int64()),
    ]
)
"""What a task counted. `name` is an attribute or a day; `value` is a value, or (`PROBLEM`) a
problem."""

MOST_VALUES = 500_000
"""Different values that a task keeps before it sends its sums."""


class Counts:
    """The sums of a task, by weight: rows of the same weight are counted, and multiplied at the
    end."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._values: dict[tuple[str, int], Counter[Any]] = defaultdict(Counter)
        self._whole: Counter[tuple[str, str, int]] = Counter()
        self._problems: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, weight: int, counts: Mapping[Any, int]) -> None:
        """Add values of an attribute, each with its number of rows of this weight."""
        self._values[name, weight].update(counts)

    def add_lists(self, name: str, weight: int, present: int, empty: int) -> None:
        """Count the rows that have a list, and those of them where it is empty."""
        self._whole[PRESENT, name, weight] += present
        self._whole[EMPTY, name, weight] += empty

    def add_day(self, day: str, weight: int, rows: int) -> None:
        """Count the rows of a day."""
        self._whole[DAY, day, weight] += rows

    def add_problem(self, day: str, problem: str) -> None:
        """Count a malformed row."""
        self._problems[day, problem] += 1

    def __len__(self) -> int:
        return sum(map(len, self._values.values()))

    def sent(self) -> pa.Table:
        """The sums so far, which are forgotten."""
        sums = [
            _batch(
                VALUE, name, pa.array(map(_text, counted), pa.string()), weight, counted.values()
            )
            for (name, weight), counted in self._values.items()
        ]
        sums += [
            _batch(kind, name, pa.nulls(1, pa.string()), weight, [rows])
            for (kind, name, weight), rows in self._whole.items()
            if rows
        ]
        sums += [
            _batch(PROBLEM, day, pa.array([problem], pa.string()), 0, [rows])
            for (day, problem), rows in self._problems.items()
        ]
        self._clear()
        return pa.Table.from_batches(sums, SUM)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    # -0.0 and 0.0 are one value.
    return repr(value + 0.0) if isinstance(value, float) else str(value)


def _batch(
    kind: str, name: str, values: pa.Array, weight: int, rows: Collection[int]
) -> pa.RecordBatch:
    """A sum that does not fit 64 bits raises an error."""
    columns = [
        pa.repeat(kind, len(rows)),
        pa.repeat(name, len(rows)),
        values,
        pa.array([weight * each for each in rows], pa.int64()),
        pa.array(rows, pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SUM)
