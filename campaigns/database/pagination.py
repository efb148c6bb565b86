"""Pages of a list: a cursor has the id of the last row that was returned, not an offset.

So a row that is added or removed between two pages does not shift the others. A cursor also has a
hash of its filters: with other filters it is an error.
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
    """Some rows of a list; `next_cursor` gets the rows after them."""

    items: tuple[T, ...]
    next_cursor: str | None


def page_of(rows: Sequence[T], limit: int, id_of: Callable[[T], int], filters: object) -> Page[T]:
    """The page of rows that were selected with one more than the limit."""
    shown = tuple(rows[:limit])
    more = len(rows) > limit
    return Page(shown, cursor_after(id_of(shown[-1]), filters) if more else None)


def cursor_after(id: int, filters: object) -> str:
    """The cursor after the row with this id."""
    text = orjson.dumps([id, _mark(filters)])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def id_in(cursor: str | None, filters: object) -> int | None:
    """The id in a cursor, None for the first page; or `BadCursor`."""
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
    """The limit if it is within bounds, or `InvalidFields`."""
    if 1 <= limit <= MAX_LIMIT:
        return limit
    raise InvalidFields(FieldProblem("/limit", "integer.range", f"must be from 1 to {MAX_LIMIT}"))


def check_filter(name: str, value: object, check: Check) -> None:
    """Check a filter, or raise `InvalidFields`; None means no filter."""
    if value is None:
        return
    try:
        check(value)
    except BadField as bad:
        raise InvalidFields(FieldProblem(f"/{name}", bad.code, bad.detail)) from None


def _mark(filters: object) -> str:
    return hashlib.sha256(repr(filters).encode()).hexdigest()[:12]
