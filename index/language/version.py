"""Versions: numbers separated by dots, compared number by number.

    '14.2' = '14.2.0'        '14.10' > '14.9'        '9.3' < '10'

A version is one integer of 64 bits that sorts like the versions, so every engine compares versions
as it compares numbers. Each number takes one to four bytes, and the first bits say how many:

    below 2^7     0xxxxxxx
    below 2^14    10xxxxxx xxxxxxxx
    below 2^21    110xxxxx xxxxxxxx xxxxxxxx
    below 2^28    1110xxxx xxxxxxxx xxxxxxxx xxxxxxxx

Zeros at the end are left out, and the bytes that are left are zero: a number 0 has the same byte.
`index/native/src/language/version.rs` does the same.
"""

import re

_TEXT = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*", re.ASCII)
_LARGEST = 2**28
BYTES = 8


class Version(int):
    """A version, as the integer that sorts like it; `str()` is its text."""

    __slots__ = ()

    def __str__(self) -> str:
        code = self.to_bytes(BYTES, "big")
        parts = []
        at = 0
        while at < BYTES and any(code[at:]):
            size = 1
            while code[at] & (0x100 >> size):
                size += 1
            part = int.from_bytes(code[at : at + size], "big")
            parts.append(part & ((1 << (7 * size)) - 1))
            at += size
        return ".".join(map(str, parts or [0]))

    def __repr__(self) -> str:
        return f"Version('{self}')"


def version_of(text: str) -> Version | None:
    """The version that a text says; None if it says none that fits."""
    if not _TEXT.fullmatch(text):
        return None
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    code = bytearray()
    for part in parts:
        if part >= _LARGEST:
            return None
        size = 1
        while part >> (7 * size):
            size += 1
        first = (0xFF00 >> (size - 1)) & 0xFF  # `size - 1` ones, then zeros
        code += (part | first << (8 * (size - 1))).to_bytes(size, "big")
    if len(code) > BYTES:
        return None
    return Version(int.from_bytes(code.ljust(BYTES, b"\0"), "big"))
