"""Pages of a list: a cursor names the last row that was seen, never a number of rows.

So a row that comes or goes between two pages moves no other row into or out of sight. A cursor
also holds a mark of the filters that it belongs to: with others it would skip at random.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import orjson

from campaigns.errors import BadCursor, FieldProblem, InvalidFields
from campaigns.fields import MAX_ID, BadField, Check

T = TypeVar("T")

MAX_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list; with `next_cursor` one asks for those after them."""

    items: tuple[T, ...]
    next_cursor: str | None


def page_of(rows: Sequence[T], limit: int, id_of: Callable[[T], int], filters: object) -> Page[T]:
    """The page of rows that were asked for with one more than the limit."""
    shown = tuple(rows[:limit])
    more = len(rows) > limit
    return Page(shown, cursor_after(id_of(shown[-1]), filters) if more else None)


def cursor_after(id: int, filters: object) -> str:
    """The cursor behind the row with this id."""
    text = orjson.dumps([id, _mark(filters)])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def id_in(cursor: str | None, filters: object) -> int | None:
    """The id that a cursor stands behind, None for the first page; or `BadCursor`."""
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        id, mark = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error):
        raise BadCursor(cursor) from None
    if mark != _mark(filters) or type(id) is not int or not 0 <= id <= MAX_ID:
        raise BadCursor(cursor)
    return id


def check_limit(limit: int) -> int:
    """A limit within bounds, or `InvalidFields`."""
    if 1 <= limit <= MAX_LIMIT:
        return limit
    raise InvalidFields(FieldProblem("/limit", "integer.range", f"must be from 1 to {MAX_LIMIT}"))


def check_filter(name: str, value: object, check: Check) -> None:
    """A filter that can be asked for, or `InvalidFields`; None asks for everything."""
    if value is None:
        return
    try:
        check(value)
    except BadField as bad:
        raise InvalidFields(FieldProblem(f"/{name}", bad.code, bad.detail)) from None


def _mark(filters: object) -> str:
    return hashlib.sha256(repr(filters).encode()).hexdigest()[:12]
