"""The IAB's Global Privacy Platform: which sections apply to a request, and what they withhold.

    DBABzw~1YNN~BVQqAAAAAgA.QA       header, then a section for each id in it, divided by ~

    header, bits:    0 type (3)   6 version (1)   12 number of groups   24 the groups
    a group:         0 and one Fibonacci number, or 1 and two of them: an id, or a range;
                     each number is the distance to the id before
    US sections:     core . GPC. The core has two bits for each answer: 0 does not apply,
                     1 opted out or no consent, 2 not opted out or consent

Only the answers about opt-outs and consent are read. A section that applies and is not understood
withholds everything: in doubt, for the user.
"""

import base64
import binascii
import re
from collections.abc import Collection

LONGEST = 16 * 1024
MOST_SECTIONS = 100

TCF_EU, US_PRIVACY = 2, 6
NONE = 0
"""No section has this id: for a string that is not valid."""

OPTED_OUT, SENSITIVE, UNKNOWN = "gpp_opt_out", "gpp_sensitive", "gpp_unknown"
"""Reasons of `privacy.WITHHELD_BY`."""

_BASE64 = re.compile(r"[A-Za-z0-9_-]+")
_HEADER_TYPE, _HEADER_VERSION = 3, 1
_GPC_SEGMENT = 1
_NO = 1
"""The answer that withholds."""

Answers = tuple[int, int]
"""The first bit, and how many answers of two bits follow."""

Layout = tuple[int, int, tuple[Answers, ...], Answers | None, tuple[Answers, ...]]
"""The version, the length in bits, opt-outs and consents, sensitive data, and known children."""


def _state(bits: int, sensitive: int, children: int, more: int = 0, first: int = 12) -> Layout:
    """Sale and targeted advertising from `first` on, then sensitive data, children, and consent to
    further uses."""
    child = first + 4 + 2 * sensitive
    opt_outs = ((first, 2), (child + 2 * children, more))
    return 1, bits, opt_outs, (first + 4, sensitive), ((child, children),)


LAYOUTS: dict[int, tuple[Layout, ...]] = {
    7: (
        (1, 60, ((18, 3), (52, 1)), (24, 12), ((48, 2),)),
        (2, 70, ((18, 3), (62, 1)), (24, 16), ((56, 3),)),
    ),  # national
    8: (_state(46, 9, 2, 1),),  # California
    9: (_state(40, 8, 1),),  # Virginia
    10: (_state(38, 7, 1),),  # Colorado
    11: (_state(42, 8, 1, first=14),),  # Utah
    12: (_state(44, 8, 3),),  # Connecticut
    13: (_state(46, 8, 3, 1),),  # Florida
    14: (_state(46, 8, 3, 1),),  # Montana
    15: (_state(52, 11, 3, 1),),  # Oregon
    16: (_state(42, 8, 1, 1),),  # Texas
    17: (_state(52, 9, 5, 1),),  # Delaware
    18: (_state(42, 8, 1, first=14),),  # Iowa
    19: (_state(42, 8, 1, 1),),  # Nebraska
    20: (_state(46, 8, 3, 1),),  # New Hampshire
    21: (_state(54, 10, 5, 1),),  # New Jersey
    22: (_state(42, 8, 1, 1),),  # Tennessee
    23: (_state(42, 8, 1, 1),),  # Minnesota
    24: ((1, 22, ((16, 3),), None, ()),),  # Maryland
}
"""The sections of the United States by their ids, one layout for each version."""


def sections(text: object) -> dict[int, str] | None:
    """The sections of a GPP string by id, those that are missing as empty texts; None if it is not
    valid."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    header, *parts = text.strip().split("~")
    ids = _section_ids(header)
    if ids is None or len(parts) > len(ids):
        return None
    missing = [""] * (len(ids) - len(parts))
    return dict(zip(ids, parts + missing, strict=True))


def applicable(listed: object) -> tuple[int, ...] | None:
    """The ids of `gpp_sid`: a list, also of strings, or one id. None if there is no such field;
    ids below 1 mean that none applies."""
    if listed is None:
        return None
    found = []
    for each in listed if isinstance(listed, list) else [listed]:
        number = str(each).strip()
        # What is not a number is a section that is not understood.
        found.append(int(number) if re.fullmatch("-?[0-9]{1,4}", number) else MOST_SECTIONS)
    return tuple(id for id in found if id > 0)


def reasons(known: dict[int, str], ids: Collection[int]) -> set[str]:
    """What the sections with these ids withhold, that of the TCF left out."""
    found: set[str] = set()
    for id in ids:
        if id == TCF_EU:
            continue
        text = known.get(id)
        if id == US_PRIVACY and text:
            if not re.fullmatch("1[YN-]{3}", text, re.IGNORECASE):
                found.add(UNKNOWN)
            elif text[2] in "yY":
                found.add(OPTED_OUT)
        else:
            found |= _us_reasons(LAYOUTS.get(id, ()), text)
    return found


def _us_reasons(layouts: Collection[Layout], text: str | None) -> set[str]:
    core, *segments = (text or "").split(".")
    bits = _bits(core)
    for version, length, opt_outs, sensitive, children in layouts:
        if bits is None or len(bits) < length or int(bits[:6], 2) != version:
            continue
        if any(_has_no(bits, answers) for answers in children):
            return {UNKNOWN}
        found = {OPTED_OUT for answers in opt_outs if _has_no(bits, answers)}
        if sensitive and _has_no(bits, sensitive):
            found.add(SENSITIVE)
        return found | {reason for segment in segments for reason in _gpc_reasons(segment)}
    return {UNKNOWN}


def _gpc_reasons(segment: str) -> set[str]:
    bits = _bits(segment)
    if bits is None or int(bits[:2], 2) != _GPC_SEGMENT:
        return {UNKNOWN}
    return {OPTED_OUT} if bits[2] == "1" else set()


def _has_no(bits: str, answers: Answers) -> bool:
    first, number = answers
    return any(int(bits[at : at + 2], 2) == _NO for at in range(first, first + 2 * number, 2))


def _section_ids(header: str) -> list[int] | None:
    bits = _bits(header)
    if bits is None or len(bits) < 24 or int(bits[:6], 2) != _HEADER_TYPE:
        return None
    if int(bits[6:12], 2) != _HEADER_VERSION:
        return None
    at, last = 24, 0
    ids: list[int] = []
    try:
        for _ in range(int(bits[12:24], 2)):
            is_range = bits[at] == "1"
            first, at = _fibonacci(bits, at + 1)
            first += last
            last = first
            if is_range:
                more, at = _fibonacci(bits, at)
                last += more
            if last - first + len(ids) >= MOST_SECTIONS:
                return None
            ids += range(first, last + 1)
    except (IndexError, ValueError):
        return None
    return ids


def _fibonacci(bits: str, at: int) -> tuple[int, int]:
    """The number that begins there, and the place behind it; `ValueError` if it does not end."""
    end = bits.index("11", at)
    number, this, following = 0, 1, 2
    for bit in bits[at : end + 1]:
        number += this if bit == "1" else 0
        this, following = following, this + following
    return number, end + 2


def _bits(text: str) -> str | None:
    """The bits of base64url without padding, six for each character; None if it is not that."""
    if not _BASE64.fullmatch(text):
        return None
    try:
        found = base64.urlsafe_b64decode(text + "A" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return "".join(f"{byte:08b}" for byte in found)[: 6 * len(text)]
