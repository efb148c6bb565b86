"""The tokens of an expression, one after the other: values, sets, points, and errors that say where
and what to do. `parser.py` has the grammar above them."""

from typing import NoReturn

from index.language.errors import ExpressionError
from index.language.lexer import (
    END,
    NAME,
    NUMBER,
    STRING,
    Token,
    brief,
    name_of,
    start_of,
    tokens_of,
)
from index.language.limits import Limits
from index.language.names import MAX_NAME, written_name
from index.language.operators import Op, Operands
from index.language.schema import Schema

_MAX_DIGITS = 400
"""No type holds an integer with more digits, and Python converts long ones slowly."""

_METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344}

_TEXT_SEARCH = {
    "ilike": "write like '…' ignoring case, with * and ?",
    "glob": "write like '…', with * and ?",
    "rlike": "write matches '…'",
    "regexp": "write matches '…'",
}
"""Words of other languages, and what they are here."""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "<>": "!="}


class TokenReader:
    """Stands before the token `next`."""

    __slots__ = ("limits", "next", "places", "schema", "text", "tokens", "words")

    def __init__(self, text: str, schema: Schema, limits: Limits) -> None:
        self.text = text
        self.schema = schema
        self.limits = limits
        self.tokens, self.words = tokens_of(text)
        self.next = 0
        self.places: list[int] = []
        """The tokens of the values of a predicate."""

    # Operands.

    def distance(self) -> object:
        """A number and its unit, in metres."""
        number = self.value()
        unit = self.words[self.next]
        if unit not in _METRES:
            self.unexpected("a unit: m, km or mi")
        self.next += 1
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        return number * _METRES[unit] if is_number else number  # type: ignore[operator]

    def point(self, before: str = "") -> list[object]:
        """`(latitude, longitude)`, after a word or none."""
        if before:
            self.expect(before, f"{before}, with (latitude, longitude)")
        self.expect("(", "( to open (latitude, longitude)")
        latitude = self.value()
        self.expect(",", ", and the longitude")
        longitude = self.value()
        self.expect(")", ") to close (latitude, longitude)")
        return [latitude, longitude]

    def points(self, op: Op) -> list[object]:
        """`((latitude, longitude), …)`; two for a box."""
        self.expect("(", f"( to open the points after {op}")
        numbers = self.point()
        while self.words[self.next] == ",":
            self.next += 1
            numbers += self.point()
        if op.operands is Operands.BOX and len(numbers) != 4:
            self.fail(
                "range.box",
                f"a box has two corners, this one has {len(numbers) // 2}",
                self.next - 1,
                "write ((south, west), (north, east))",
            )
        self.expect(")", ", or ) after the points")
        return numbers

    def expect(self, word: str, described: str) -> None:
        if self.words[self.next] != word:
            self.unexpected(described)
        self.next += 1

    def set_of_values(self, op: Op) -> list[object]:
        if self.words[self.next] != "(":
            self.unexpected(f"( to open the set after {op}")
        opening = self.next
        self.next += 1
        if self.words[self.next] == ")":
            self.next += 1
            raise ExpressionError(
                "set.empty",
                f"the set after {op} is empty",
                self.text,
                start_of(self.tokens[opening]),
                self.tokens[opening + 1].end(),
            )
        values = [self.value()]
        while self.words[self.next] == ",":
            self.next += 1
            values.append(self.value())
        if self.words[self.next] != ")":
            self.unexpected(", or ) in the set")
        self.next += 1
        if len(values) > self.limits.set_values:
            raise ExpressionError(
                "limit.set_values",
                f"the set has {len(values)} values; at most {self.limits.set_values} are allowed",
                self.text,
                start_of(self.tokens[opening]),
                self.tokens[self.next - 1].end(),
            )
        return values

    def value(self) -> object:
        self.places.append(self.next)
        token = self.tokens[self.next]
        kind = token.lastindex
        if kind == STRING:
            self.next += 1
            quoted = token[STRING]
            quote = quoted[0]
            body = quoted[1:-1]
            return body.replace(quote * 2, quote) if quote in body else body
        if kind == NUMBER:
            number = token[NUMBER]
            if number.lstrip("+-").isdecimal():
                if len(number) > _MAX_DIGITS:
                    self.fail(
                        "value.too_long",
                        f"this integer has more than {_MAX_DIGITS} digits",
                        self.next,
                    )
                self.next += 1
                return int(number)
            self.next += 1
            return float(number)
        word = self.words[self.next]
        if word == "true" or word == "false":
            self.next += 1
            return word == "true"
        self.unexpected("a value")

    # Errors.

    def fail(self, code: str, message: str, at: int, hint: str | None = None) -> NoReturn:
        token = self.tokens[at]
        raise ExpressionError(code, message, self.text, start_of(token), token.end(), hint)

    def unknown(self, name: str) -> NoReturn:
        near = self.schema.nearest(name)
        hint = f"did you mean {written_name(near)}?" if near else None
        if self.words[self.next + 1] == "(":
            hint = "the only functions are bucket(attribute, 'salt') and call operator(attribute)"
            if self.words[self.next] in ("lower", "upper"):
                hint = "compare the attribute itself, and write ignoring case behind the value"
        self.fail(
            "attribute.unknown",
            f"there is no attribute {brief(name, MAX_NAME)}",
            self.next,
            hint,
        )

    def unexpected(self, expected: str) -> NoReturn:
        token = self.tokens[self.next]
        found = "the end" if token.lastindex == END else token[token.lastindex or 0]
        self.fail(
            "syntax.unexpected",
            f"expected {expected}, found {brief(found)}",
            self.next,
            self.hint_for(token, expected),
        )

    def hint_for(self, token: Token, expected: str) -> str | None:
        word = self.words[self.next]
        before = self.words[self.next - 1] if self.next else ""
        if before == "=" and word in ("<", ">"):
            return f"write {word}="
        if word == "=":
            return "equality is a single ="
        if before == "is" and token.lastindex in (STRING, NUMBER):
            return f"write = {brief(token[token.lastindex])}"
        if expected == "an operator" and word in _TEXT_SEARCH:
            return _TEXT_SEARCH[word]
        if expected == "a condition" and token.lastindex in (STRING, NUMBER):
            return self.turned_around()
        is_name = name_of(token) in self.schema
        if is_name and (expected.startswith("and, or") or expected == "an operator"):
            return "write and or or between two conditions"
        if expected != "a value":
            return None
        if self.words[self.next] == "null":
            return "use is null, or is not null"
        if token.lastindex == NAME and token[NAME] not in self.schema:
            return f"put quotes around strings: '{brief(token[NAME])}'"
        return None

    def turned_around(self) -> str | None:
        """How to write `18 <= age`."""
        mirrored = _MIRRORED.get(self.words[self.next + 1])
        value = self.tokens[self.next]
        name = name_of(self.tokens[min(self.next + 2, len(self.tokens) - 1)])
        if mirrored is None or name is None or name not in self.schema:
            return None
        shown = brief(value[value.lastindex or 0])
        return f"the attribute comes first: {written_name(name)} {mirrored} {shown}"
