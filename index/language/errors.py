"""Errors in a schema, an expression or a stored tree.

    LanguageError(ValueError)
    ├── SchemaError        an attribute that cannot be declared
    ├── ExpressionError    a text that is not an expression: where, what, what to do
    └── TreeError          a JSON form that is not a valid tree: where, what

Each has a stable `code`, meant for programs, and a `message`, meant for people.

    syntax.*      the text cannot be read        range.*, set.*, pattern.*  an operand
    attribute.*   a name                         value.*    a literal outside its type
    type.*        two types that do not fit      limit.*    larger than allowed
"""

import unicodedata
from typing import Any

_WINDOW = 100
"""Characters of a source line that `render` shows around the error."""


class LanguageError(ValueError):
    """The base class."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class SchemaError(LanguageError):
    """An attribute that cannot be declared; `index` is its position in the given list."""

    def __init__(self, code: str, message: str, index: int | None = None) -> None:
        super().__init__(code, message)
        self.index = index


class TreeError(LanguageError):
    """A JSON form that is not a valid tree; `pointer` is an RFC 6901 pointer into it."""

    def __init__(self, code: str, message: str, pointer: str = "") -> None:
        super().__init__(code, message)
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.message} (at {self.pointer or 'the top'})"


class ExpressionError(LanguageError):
    """A text that is not an expression.

    `start` and `end` are offsets in characters, end exclusive; `line` and `column`
    count from 1. `str(error)` is the message with the offending words under a caret.
    """

    def __init__(
        self,
        code: str,
        message: str,
        text: str,
        start: int,
        end: int,
        hint: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.text = text
        self.start = start
        self.end = max(end, start)
        self.hint = hint
        line_start = text.rfind("\n", 0, start) + 1
        self.line = text.count("\n", 0, start) + 1
        self.column = start - line_start + 1
        self._line_start = line_start

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.code, self.message, self.text, self.start, self.end, self.hint)
        return type(self), fields

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The message, the source line and a caret below the offending words."""
        line_end = self.text.find("\n", self.start)
        if line_end < 0:
            line_end = len(self.text)
        first = max(self._line_start, self.start - _WINDOW // 2)
        last = min(line_end, first + _WINDOW)
        source = self.text[first:last].rstrip("\r")
        until = max(min(self.end, first + len(source)), self.start)
        before = "".join(_blank(c) for c in self.text[first : self.start])
        carets = "^" * max(1, sum(_width(c) for c in self.text[self.start : until]))
        gutter = str(self.line)
        lead = "…" if first > self._line_start else ""
        tail = "…" if last < line_end else ""
        lines = [
            f"line {self.line}, column {self.column}: {self.message}",
            f"{gutter} | {lead}{source}{tail}",
            f"{' ' * len(gutter)} | {' ' * len(lead)}{before}{carets}",
        ]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def _width(char: str) -> int:
    """Columns that a character takes in a fixed-width font."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _blank(char: str) -> str:
    """White space as wide as `char`; a tab stays a tab, so that the caret lines up."""
    return "\t" if char == "\t" else " " * _width(char)
