"""A value as the sequence of elements that a PS-Tree branches on.

An element is a small integer. The tree knows no types; it only needs that

    a < b   exactly when   elements(a) < elements(b)          (order of Python tuples)

so that children in ascending order are values in ascending order.

    byte     sign, 3 bits, 4 bits             -5  = 1|111|1011  →  (0, 7, 11)
    int      sign, 7 bits, 7 × 8 bits         nine elements
    float    sign, 11 bits of exponent, then the mantissa in six
    string   a start, then its UTF-8 bytes    'ab'              →  (0, 97, 98)
    bool     itself                           true              →  (1,)
    version  its eight bytes, and an ip by the string that sorts like it

The thesis writes the sign as "-" or "+"; here they are 0 and 1, since "-" comes first.
After the sign, two's complement is in order. Sign and magnitude, as in doubles, is not: all other
bits of a negative double are inverted.

A string's path may be the beginning of another's ('ab' and 'abc'); a tuple that ends
early is the smaller one, and so is the string. The start element is there so that the empty
string ends at a node of its own, not at the root of the tree.
"""

import struct
from collections.abc import Callable
from typing import Any

from index.language.types import Type

Elements = tuple[int, ...]

BYTE = (1, 3, 4)
INT64 = (1, 7, 8, 8, 8, 8, 8, 8, 8)
DOUBLE = (1, 11, 12, 8, 8, 8, 8, 8)

_SIGN = 1 << 63
_STRING_START = 0


def elements_of(kind: Type) -> Callable[[Any], Elements]:
    """The function from values of a type, or of a list's elements, to elements."""
    return _BY_TYPE[kind.element]


def int_elements(value: int, widths: tuple[int, ...] = INT64) -> Elements:
    """The elements of an integer of `sum(widths)` bits, the sign first."""
    size = sum(widths)
    half = 1 << (size - 1)
    if not -half <= value < half:
        raise OverflowError(f"{value} does not fit in {size} bits")
    return _split(value + half, widths)  # adding half turns the sign bit over: "-" is 0


def float_elements(value: float) -> Elements:
    """The elements of a finite double; -0.0 is 0.0."""
    bits: int = struct.unpack(">Q", struct.pack(">d", value + 0.0))[0]
    return _split(bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN, DOUBLE)


def string_elements(value: str) -> Elements:
    """The elements of a string. UTF-8 keeps the order of code points."""
    return (_STRING_START, *value.encode())


def bool_elements(value: bool) -> Elements:
    """The one element of a truth value: false comes before true."""
    return (int(value),)


def version_elements(value: int) -> Elements:
    """The bytes of a version."""
    return tuple(value.to_bytes(8, "big"))


def _split(bits: int, widths: tuple[int, ...]) -> Elements:
    """Cut an unsigned integer into groups of bits, the most significant first."""
    elements = []
    left = sum(widths)
    for width in widths:
        left -= width
        elements.append((bits >> left) & ((1 << width) - 1))
    return tuple(elements)


_BY_TYPE: dict[Type, Callable[[Any], Elements]] = {
    Type.BOOL: bool_elements,
    Type.INT: int_elements,
    Type.FLOAT: float_elements,
    Type.STRING: string_elements,
    Type.VERSION: version_elements,
    Type.IP: string_elements,
}
