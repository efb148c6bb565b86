"""NDJSON: one JSON value per line. Bytes go in as they arrive, whole lines come out.

A line that is too long is dropped while it arrives, and reported: memory is bounded by one line.
Blank lines are numbered, but have no value.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from campaigns.errors import FieldProblem

MEDIA_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
MAX_LINE_BYTES = 256 * 1024


SKIPPED = object()
"""The value of a line that has no result."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number, from 1, and its value, or the `FieldProblem` of parsing it."""

    number: int
    size: int
    value: object


class Lines:
    """Splits pieces of a text into lines."""

    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        self._longest = longest
        self._rest = b""
        self._dropping = False
        self._number = 0

    def feed(self, piece: bytes) -> Iterator[Line]:
        """The lines that end in this piece."""
        *whole, rest = piece.split(b"\n")
        for end in whole:
            text, self._rest = self._rest + end, b""
            yield from self._line(text)
        if self._dropping:
            return
        self._rest += rest
        if len(self._rest) > self._longest:
            self._dropping, self._rest = True, b""

    def end(self) -> Iterator[Line]:
        """The last line, if it has no line break."""
        if self._rest or self._dropping:
            yield from self._line(self._rest)

    def _line(self, text: bytes) -> Iterator[Line]:
        self._number += 1
        if self._dropping or len(text) > self._longest:
            self._dropping = False
            detail = f"a line has at most {self._longest} bytes"
            yield Line(self._number, 0, FieldProblem("", "line.long", detail))
        elif text.strip() and (value := self._read(text)) is not SKIPPED:
            yield Line(self._number, len(text), value)

    def _read(self, text: bytes) -> object:
        try:
            value: object = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            detail = f"{error.msg}, at character {error.pos}"
            return FieldProblem("", "json.malformed", detail)
        return value
