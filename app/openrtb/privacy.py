"""What of a request may be used at all: decided first, and the rest is taken out.

    regs, user, device ─judge─▶ Privacy: the flags, and what they withhold
                                   │ forget
                                   ▼
                        the request without that, without ids, its address cut short

What is gone cannot be matched on, logged or printed by any later step. A flag that is neither 0
nor 1 counts as set: when in doubt, for the user. `WITHHELD_BY` is the table of the guide.
"""

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from app.openrtb.tcf import Consent, decode

REQUIRED_PURPOSES = frozenset({1, 2, 3, 4})
"""Store and read, select ads, make profiles, select by profiles: segments take all of them."""

PRECISE_LOCATION = 1
"""The special feature of the TCF that coordinates take beside the purposes."""

GPP_TCF_EU = 2
"""The section of a GPP string that is the TCF's: named, the GDPR applies."""

_US_PRIVACY = re.compile(r"[0-9A-Z-]{3,8}")

SEGMENTS, PERSON, PRECISE, COORDINATES = "segments", "person", "precise", "coordinates"

WITHHELD_BY: dict[str, frozenset[str]] = {
    "gdpr": frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "gdpr_location": frozenset({COORDINATES}),
    "coppa": frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "us_privacy": frozenset({SEGMENTS, PRECISE, COORDINATES}),
    "lmt": frozenset({SEGMENTS, PRECISE, COORDINATES}),
    "dnt": frozenset({SEGMENTS, PRECISE, COORDINATES}),
}
"""What each reason withholds."""

FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    SEGMENTS: (("user", "data"),),
    PERSON: (("user", "yob"), ("user", "gender"), ("user", "geo")),
    PRECISE: (("geo", "zip"),),
    COORDINATES: (("geo", "lat"), ("geo", "lon")),
}
"""Which fields these are; `geo` is the device's and the user's."""

ID_FIELDS: dict[str, tuple[str, ...]] = {
    "user": ("id", "buyeruid", "buyerid", "eids", "customdata", "keywords", "kwarray", "ext"),
    "device": (
        *("ifa", "didsha1", "didmd5", "dpidsha1", "dpidmd5", "macsha1", "macmd5"),
        *("ua", "sua", "ext"),
    ),
}
"""Who the user is, whatever is allowed: never used, so not kept."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """The flags of a request, None where it says nothing, and what follows from them."""

    gdpr: bool | None
    coppa: bool | None
    us: str | None
    reasons: tuple[str, ...]
    """Keys of `WITHHELD_BY`, for counting."""

    @property
    def withheld(self) -> frozenset[str]:
        """What may not be used."""
        return frozenset().union(*(WITHHELD_BY[reason] for reason in self.reasons))


def judge(
    document: dict[str, Any], required_purposes: Collection[int], ignored: dict[str, int]
) -> Privacy:
    """Read the flags, each from both places where it occurs; that of OpenRTB 2.6 wins."""
    regs, device = _object(document, "regs"), _object(document, "device")
    gdpr = _flag(_either(regs, "gdpr"), "regs.gdpr", ignored)
    sections = _either(regs, "gpp_sid")
    if gdpr is None and isinstance(sections, list) and GPP_TCF_EU in sections:
        gdpr = True
    coppa = _flag(_either(regs, "coppa"), "regs.coppa", ignored)
    us = _us_privacy(_either(regs, "us_privacy"))
    reasons = []
    if gdpr:
        consent = decode(_either(_object(document, "user"), "consent"))
        reasons += _gdpr_reasons(consent, required_purposes)
    if coppa:
        reasons.append("coppa")
    if us is not None and us[2] == "Y":
        reasons.append("us_privacy")
    for name in ("lmt", "dnt"):
        if _flag(device.get(name), f"device.{name}", ignored):
            reasons.append(name)
    return Privacy(gdpr, coppa, us, tuple(reasons))


def _gdpr_reasons(consent: Consent | None, required: Collection[int]) -> list[str]:
    if consent is None or not consent.purposes.issuperset(required):
        return ["gdpr"]
    return [] if PRECISE_LOCATION in consent.special_features else ["gdpr_location"]


def forget(document: dict[str, Any], privacy: Privacy) -> None:
    """Take out what is withheld and who the user is; the device's address stays in part."""
    user, device = _object(document, "user"), _object(document, "device")
    objects = {
        "user": (user,),
        "geo": (_object(device, "geo"), _object(user, "geo")),
    }
    for kind in privacy.withheld:
        for name, field in FIELDS[kind]:
            for each in objects[name]:
                each.pop(field, None)
    for field in ID_FIELDS["user"]:
        user.pop(field, None)
    for field in ID_FIELDS["device"]:
        device.pop(field, None)
    for field in ("ip", "ipv6"):
        if field in device:
            device[field] = truncated(device[field])


def truncated(address: object) -> str | None:
    """The network of an address: 24 bits of IPv4, 56 of IPv6; None if it is no address."""
    if not isinstance(address, str):
        return None
    family, kept = (socket.AF_INET6, 7) if ":" in address else (socket.AF_INET, 3)
    try:
        whole = socket.inet_pton(family, address)
    except (OSError, ValueError):
        return None
    return socket.inet_ntop(family, whole[:kept] + bytes(len(whole) - kept))


def _object(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _either(document: dict[str, Any], name: str) -> Any:
    """A field where OpenRTB 2.6 has it, else in `ext`, where it was."""
    found = document.get(name)
    return _object(document, "ext").get(name) if found is None else found


def _flag(value: object, path: str, ignored: dict[str, int]) -> bool | None:
    if value is None:
        return None
    if value not in (0, 1):
        ignored[path] = ignored.get(path, 0) + 1
    return value not in (0, "0", "")


def _us_privacy(value: object) -> str | None:
    """`1YNN`: version, notice given, opted out of sale, covered by an agreement."""
    found = value.strip().upper() if isinstance(value, str) else ""
    return found if _US_PRIVACY.fullmatch(found) else None
