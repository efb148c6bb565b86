"""Rows of `Index.insert_json`: an id, the JSON form of its tree, and the rest of its entry.

    (7, b'[1,["=","age",5]]', 12, None, 1735689600.0, 3, 4, ("food/sweets",))
     id  tree                 score  start  end       group version  labels

Everything from the score on is optional. The native core reads rows itself and calls this module
only for the error of an invalid one.
"""

from collections.abc import Iterable

from index.entry import Entry, check_id, check_properties
from index.language.errors import TreeError
from index.language.json_form import from_json
from index.language.limits import Limits
from index.language.schema import Schema

Row = tuple[object, ...]

_LONGEST = 8


class RowError(ValueError):
    """A row that cannot be inserted: its `position` among the rows, its `id`, and the
    `problem`, a `TreeError` if the tree is invalid."""

    def __init__(self, position: int, id: object, problem: ValueError) -> None:
        super().__init__(f"row {position}, id {id!r}: {problem}")
        self.position = position
        self.id = id
        self.problem = problem


def check_row(position: int, row: object) -> tuple[int, str | bytes, tuple[object, ...]]:
    """The id, the JSON of the tree, and the other properties, checked; `RowError`."""
    id = None
    try:
        items = _items(row)
        id = items[0]
        check_id(id)
        check_properties(*items[2:])
        return id, _check_json(items[1]), items[2:]  # type: ignore[return-value]
    except ValueError as problem:
        raise RowError(position, id, problem) from problem


def read_row(position: int, row: object, schema: Schema, limits: Limits) -> tuple[int, Entry]:
    """The entry of a row; `RowError`."""
    id, json, properties = check_row(position, row)
    try:
        return id, Entry(from_json(json, schema, limits), *properties)  # type: ignore[arg-type]
    except TreeError as problem:
        raise RowError(position, id, problem) from problem


def _items(row: object) -> tuple[object, ...]:
    if not isinstance(row, Iterable):
        raise ValueError(f"a row is a tuple, not {row!r}")
    items = tuple(row)
    if not 2 <= len(items) <= _LONGEST:
        raise ValueError(f"a row has 2 to {_LONGEST} items, not {len(items)}")
    return items


def _check_json(json: object) -> str | bytes:
    if not isinstance(json, str | bytes):
        raise ValueError(f"the JSON form of a tree is bytes or a string, not {json!r}")
    if isinstance(json, str):
        try:
            json.encode()
        except UnicodeEncodeError as e:
            raise TreeError("tree.json", f"this is not JSON: {e}") from None
    return json
