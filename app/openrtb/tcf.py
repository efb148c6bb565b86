"""The IAB's consent string (TCF 2): the part with the purposes that the user agreed to.

    C…Q . YA… . …      segments, base64url without padding; the first is the core

    core, bits:   0 version   6 created  42 updated  78 cmp  90 its version … 132 policy
                140 special features (12)   152 purposes by consent (24)
                176 purposes by legitimate interest (24)   … 213 vendors

Only the first 213 bits are read. The vendors after them are not: Copse is not a vendor, and the
exchange has checked its own. A string of version 1, a short or a malformed string is not valid.
"""

import base64
import re
from dataclasses import dataclass

VERSION = 2
LONGEST = 16 * 1024
"""Most characters of a string; real ones have some hundred."""

_CORE = re.compile(r"[A-Za-z0-9_-]{36,}")
_READ = 36
"""Characters that hold the 213 bits: 216, or 27 bytes."""
_BITS = _READ * 6


@dataclass(frozen=True, slots=True)
class Consent:
    """The content of a string; times are in epoch seconds."""

    created: float
    updated: float
    cmp: int
    policy: int
    special_features: frozenset[int]
    purposes: frozenset[int]
    legitimate_interests: frozenset[int]


def decode(text: object) -> Consent | None:
    """The consent of a string, or None if it is not valid."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    core = text.partition(".")[0]
    if not _CORE.fullmatch(core):
        return None
    bits = int.from_bytes(base64.urlsafe_b64decode(core[:_READ]), "big")
    if _field(bits, 0, 6) != VERSION:
        return None
    return Consent(
        created=_field(bits, 6, 36) / 10,
        updated=_field(bits, 42, 36) / 10,
        cmp=_field(bits, 78, 12),
        policy=_field(bits, 132, 6),
        special_features=_numbers(bits, 140, 12),
        purposes=_numbers(bits, 152, 24),
        legitimate_interests=_numbers(bits, 176, 24),
    )


def _field(bits: int, first: int, width: int) -> int:
    return bits >> (_BITS - first - width) & ((1 << width) - 1)


def _numbers(bits: int, first: int, width: int) -> frozenset[int]:
    """The positions of the set bits, from 1."""
    field = _field(bits, first, width)
    return frozenset(place + 1 for place in range(width) if field >> (width - 1 - place) & 1)
