"""The types of attributes, and their values.

What a valid value is, for literals in expressions and for values in events:

    bool    True or False
    int     64 bits, signed; 30.0 and True are not integers
    float   finite doubles; integers too, if a double holds them exactly
    string  Unicode without NUL and without lone surrogates
    version text, numbers separated by dots: '14.2' (`version.py`)
    ip      text, an address of IPv4 or IPv6 (`address.py`)
    point   [latitude, longitude], in degrees (`geometry.py`)

`True == 1 == 1.0` in Python, so values are never compared without their type.
"""

import math
from enum import Enum

from index.language.address import Network, address_of
from index.language.geometry import Point, point_of
from index.language.version import Version, version_of

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1

Scalar = bool | int | float | str | Point
"""One value of a scalar attribute, or one element of a list. A version is an int and an address a
string that sort like them (`Version`, `Network`)."""


class Type(Enum):
    """The type of an attribute."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    INT_LIST = "int list"
    STRING_LIST = "string list"
    VERSION = "version"
    IP = "ip"
    POINT = "point"

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
    elif kind is Type.BOOL:
        if isinstance(value, bool):
            return value
    elif kind is Type.POINT:
        return _check_point(value)
    elif isinstance(value, str | Version):
        return _check_special(value, kind)
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


def _check_special(value: str | Version, kind: Type) -> Version | Network:
    """A version or an address, from its text."""
    if isinstance(value, Version | Network):
        return value
    shown = value if len(value) <= 40 else value[:37] + "…"
    if kind is Type.VERSION:
        version = version_of(value)
        if version is None:
            what = "is not a version: numbers separated by dots, such as '14.2', of at most 8 bytes"
            raise BadValue("value.version", f"'{shown}' {what}", kind, "a string")
        return version
    address = address_of(value)
    if address is None:
        what = "is not an address, such as '203.0.113.7' or '2001:db8::1'"
        raise BadValue("value.ip", f"'{shown}' {what}", kind, "a string")
    return address


def _check_point(value: object) -> Point:
    if isinstance(value, Point):
        return value
    if not isinstance(value, list | tuple) or len(value) != 2:
        got = describe(value)
        message = f"expected a point, [latitude, longitude], got {got}"
        raise BadValue("type.mismatch", message, Type.POINT, got)
    latitude, longitude = (check_scalar(degrees, Type.FLOAT) for degrees in value)
    point = point_of(latitude, longitude)  # type: ignore[arg-type]  # both are doubles
    if point is None:
        message = "a latitude is from -90 to 90 degrees, a longitude from -180 to 180"
        raise BadValue("value.point", message, Type.POINT, "a point")
    return point


def plain(value: Scalar) -> bool | int | float | str | list[float]:
    """A value as JSON has it in events and answers: a version and an address as text."""
    if isinstance(value, Version):
        return str(value)
    if isinstance(value, Network):
        return value.readable
    return value.degrees if isinstance(value, Point) else value


def _brief(value: int) -> str:
    """The digits of an integer, unless it is huge: Python refuses to print those."""
    if value.bit_length() > 200:
        return "this integer"
    return str(value)
