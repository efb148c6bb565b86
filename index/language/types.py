"""The six types of attributes, and their values.

What a valid value is, for literals in expressions and for values in events:

    bool    True or False
    int     64 bits, signed; 30.0 and True are not integers
    float   finite doubles; integers too, if a double holds them exactly
    string  Unicode without NUL and without lone surrogates

`True == 1 == 1.0` in Python, so values are never compared without their type.
"""

import math
from enum import Enum

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1

Scalar = bool | int | float | str
"""One value of a scalar attribute, or one element of a list."""


class Type(Enum):
    """The type of an attribute."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    INT_LIST = "int list"
    STRING_LIST = "string list"

    # Enum's own __hash__ is a Python function; types are hashed on every comparison of trees.
    __hash__ = object.__hash__

    @property
    def is_list(self) -> bool:
        """Whether an event has several values for the attribute."""
        return self in _ELEMENTS

    @property
    def element(self) -> "Type":
        """The type of one value: of a list's elements, or the scalar type itself."""
        return _ELEMENTS.get(self, self)

    def __str__(self) -> str:
        return self.value


_ELEMENTS = {Type.INT_LIST: Type.INT, Type.STRING_LIST: Type.STRING}


class BadValue(ValueError):
    """A value that an attribute of `expected` type cannot take.

    `code` is stable; `got` describes the offending value's type.
    """

    def __init__(self, code: str, message: str, expected: Type, got: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.expected = expected
        self.got = got


def describe(value: object) -> str:
    """The type of a value in error messages: `a string`, `an int`, `null`."""
    if value is None:
        return "null"
    for cls, words in _WORDS:
        if isinstance(value, cls):
            return words
    return f"a {type(value).__name__}"


_WORDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "a bool"),
    (int, "an int"),
    (float, "a float"),
    (str, "a string"),
    ((list, tuple), "a list"),
    (dict, "an object"),
)


def with_article(kind: Type) -> str:
    """`an int`, `a string list`."""
    return f"an {kind}" if kind.value[0] in "aeiou" else f"a {kind}"


def check_scalar(value: object, kind: Type) -> Scalar:
    """Return `value` as a value of the scalar type `kind`, or raise `BadValue`.

    Integers given for a `float` become doubles and `-0.0` becomes `0.0`, so that
    equal values are identical values.
    """
    if kind is Type.STRING:
        if isinstance(value, str):
            return _check_string(value)
    elif kind is Type.INT:
        if isinstance(value, int) and not isinstance(value, bool):
            return _check_int(value)
    elif kind is Type.FLOAT:
        if isinstance(value, float):
            return _check_float(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return _int_to_float(value)
    elif isinstance(value, bool):
        return value
    got = describe(value)
    raise BadValue("type.mismatch", f"expected {with_article(kind)}, got {got}", kind, got)


def _check_int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise BadValue(
        "value.int_range", f"{_brief(value)} does not fit in 64 bits", Type.INT, "an int"
    )


def _check_float(value: float) -> float:
    if math.isfinite(value):
        return value + 0.0  # -0.0 + 0.0 is 0.0
    raise BadValue("value.not_finite", "NaN and infinities are not allowed", Type.FLOAT, "a float")


def _int_to_float(value: int) -> float:
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if double == value:
        return double
    raise BadValue(
        "value.inexact", f"a double cannot hold {_brief(value)} exactly", Type.FLOAT, "an int"
    )


def _check_string(value: str) -> str:
    if "\0" in value:
        raise BadValue(
            "value.nul", "a string must not contain the NUL character", Type.STRING, "a string"
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise BadValue(
                "value.surrogate",
                "a string must not contain a lone surrogate",
                Type.STRING,
                "a string",
            ) from None
    return value


def _brief(value: int) -> str:
    """The digits of an integer, unless it is huge: Python refuses to print those."""
    if value.bit_length() > 200:
        return "this integer"
    return str(value)
