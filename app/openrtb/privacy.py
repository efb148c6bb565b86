"""Which fields of a request may be used: decided first, and the others are removed.

    regs, user, device ─judge─▶ Privacy: the flags, and what they withhold
                                   │ forget
                                   ▼
                        the request without these fields and ids, with a truncated address

No later step can match, log or print a removed field. A flag that is neither 0 nor 1 counts as set:
in doubt, for the user. `WITHHELD_BY` is the table in `docs/openrtb.md`.
"""

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from app.openrtb import gpp
from app.openrtb.tcf import Consent, decode
from campaigns.catalogue.vocabulary import KEPT_BITS

REQUIRED_PURPOSES = frozenset({1, 2, 3, 4})
"""Store and read, select ads, make profiles, select by profiles: segments need all of them."""

PRECISE_LOCATION = 1
"""The special feature of the TCF that coordinates need in addition to the purposes."""

NOT_VALID = "?"
"""In place of a US privacy string that is not one."""

_KEPT_BYTES = {
    family: bits // 8
    for family, bits in zip((socket.AF_INET, socket.AF_INET6), KEPT_BITS["device.ip"], strict=True)
}
_MAPPED = bytes(10) + b"\xff\xff"
"""What is before an IPv4 address inside IPv6."""

_US_PRIVACY = re.compile(r"1[YN-]{3}")

SEGMENTS, PERSON, PRECISE, COORDINATES = "segments", "person", "precise", "coordinates"

WITHHELD_BY: dict[str, frozenset[str]] = {
    "gdpr": frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "gdpr_location": frozenset({COORDINATES}),
    "coppa": frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "us_privacy": frozenset({SEGMENTS, PRECISE, COORDINATES}),
    gpp.OPTED_OUT: frozenset({SEGMENTS, PRECISE, COORDINATES}),
    gpp.SENSITIVE: frozenset({PRECISE, COORDINATES}),
    gpp.UNKNOWN: frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "regs": frozenset({SEGMENTS, PERSON, PRECISE, COORDINATES}),
    "gpc": frozenset({SEGMENTS, PRECISE, COORDINATES}),
    "lmt": frozenset({SEGMENTS, PRECISE, COORDINATES}),
    "dnt": frozenset({SEGMENTS, PRECISE, COORDINATES}),
}
"""What each reason withholds."""

FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    SEGMENTS: (("user", "data"), ("user", "id_sources")),
    PERSON: (("user", "yob"), ("user", "gender"), ("user", "geo")),
    PRECISE: (("geo", "zip"), ("device", "ip"), ("device", "ipv6")),
    COORDINATES: (("geo", "lat"), ("geo", "lon")),
}
"""The fields of each kind; `geo` is that of the device and of the user."""

ID_FIELDS: dict[str, tuple[str, ...]] = {
    "user": ("id", "buyeruid", "buyerid", "eids", "customdata", "keywords", "kwarray", "ext"),
    "device": (
        *("ifa", "didsha1", "didmd5", "dpidsha1", "dpidmd5", "macsha1", "macmd5"),
        *("ua", "sua", "ext"),
    ),
}
"""Fields that identify the user: never used, even with consent, so removed."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """The flags of a request (None if missing), and what follows from them."""

    gdpr: bool | None
    coppa: bool | None
    us: str | None
    reasons: tuple[str, ...]
    """Keys of `WITHHELD_BY`."""

    @property
    def attributes(self) -> dict[str, bool | str | None]:
        """The flags as attributes."""
        return {"privacy.gdpr": self.gdpr, "privacy.coppa": self.coppa, "privacy.us": self.us}

    @property
    def withheld(self) -> frozenset[str]:
        """The kinds of fields that may not be used."""
        return frozenset().union(*(WITHHELD_BY[reason] for reason in self.reasons))


def judge(
    document: dict[str, Any],
    required_purposes: Collection[int],
    ignored: dict[str, int],
    tolerated: dict[str, int],
) -> Privacy:
    """Read the flags, each from the place of OpenRTB 2.6 or else that of 2.5."""

    def is_set(value: object, path: str) -> bool | None:
        if value is None or value == "":
            return None
        if type(value) is int and value in (0, 1):
            return value == 1
        counts = tolerated if value in (0, 1, "0", "1") else ignored
        counts[path] = counts.get(path, 0) + 1
        return value not in (0, "0")

    regs, device = _object(document, "regs"), _object(document, "device")
    gdpr = is_set(_either(regs, "gdpr"), "regs.gdpr")
    coppa = is_set(_either(regs, "coppa"), "regs.coppa")
    reasons = []
    for path, sent in (("regs", document.get("regs")), ("regs.ext", regs.get("ext"))):
        if sent and not isinstance(sent, dict):
            ignored[path] = 1
            reasons.append("regs")
    consent = _either(_object(document, "user"), "consent")
    us = _us_privacy(_either(regs, "us_privacy"), ignored)
    text, listed = _either(regs, "gpp"), _either(regs, "gpp_sid")
    if text is not None or listed is not None:
        sections, applicable = _gpp_sections(text, listed, us, ignored, tolerated)
        gdpr = True if gpp.TCF_EU in applicable else gdpr
        consent = sections.get(gpp.TCF_EU) if consent is None else consent
        reasons += sorted(gpp.reasons(sections, applicable))
    if gdpr:
        reasons += _gdpr_reasons(decode(consent), required_purposes)
    if coppa:
        reasons.append("coppa")
    if us is not None and (us == NOT_VALID or us[2] == "Y"):
        reasons.append("us_privacy")
    if is_set(_either(regs, "gpc"), "regs.gpc"):
        reasons.append("gpc")
    for name in ("lmt", "dnt"):
        if is_set(device.get(name), f"device.{name}"):
            reasons.append(name)
    return Privacy(gdpr, coppa, None if us == NOT_VALID else us, tuple(reasons))


def _gpp_sections(
    text: object,
    listed: object,
    us: str | None,
    ignored: dict[str, int],
    tolerated: dict[str, int],
) -> tuple[dict[int, str], Collection[int]]:
    """The sections of a GPP string, and the ids of those that apply: without `gpp_sid`, all."""
    sections, applicable = gpp.sections(text), gpp.applicable(listed)
    if sections is None and text is not None:
        ignored["regs.gpp"] = 1
        applicable = (*(applicable or ()), gpp.NONE)
    if listed is not None and (type(listed) is not list or any(type(x) is not int for x in listed)):
        tolerated["regs.gpp_sid"] = 1
    found = sections or {}
    if applicable is None:
        applicable = tuple(found)
    if us is not None and not found.get(gpp.US_PRIVACY):
        found[gpp.US_PRIVACY] = us
    return found, applicable


def _gdpr_reasons(consent: Consent | None, required: Collection[int]) -> list[str]:
    if consent is None or not consent.purposes.issuperset(required):
        return ["gdpr"]
    return [] if PRECISE_LOCATION in consent.special_features else ["gdpr_location"]


def forget(document: dict[str, Any], privacy: Privacy, ignored: dict[str, int]) -> None:
    """Remove withheld and identifying fields, and truncate the address of the device."""
    user, device = _object(document, "user"), _object(document, "device")
    objects = {
        "user": (user,),
        "device": (device,),
        "geo": (_object(device, "geo"), _object(user, "geo")),
    }
    user["id_sources"] = _id_sources(user)
    for kind in privacy.withheld:
        for name, field in FIELDS[kind]:
            for each in objects[name]:
                each.pop(field, None)
    for field in ID_FIELDS["user"]:
        user.pop(field, None)
    for field in ID_FIELDS["device"]:
        device.pop(field, None)
    for field in ("ip", "ipv6"):
        address = device.get(field)
        if address is not None:
            device[field] = truncated(address)
            if address != "" and device[field] is None:
                ignored[f"device.{field}"] = 1


def _id_sources(user: dict[str, Any]) -> list[str] | None:
    """Who has ids of the user: all that is kept of `eids`."""
    eids = _either(user, "eids")
    if not isinstance(eids, list):
        return None
    return [
        each["source"].lower()
        for each in eids
        if isinstance(each, dict) and isinstance(each.get("source"), str)
    ]


def truncated(address: object) -> str | None:
    """The network of an address: 24 bits of IPv4, 56 of IPv6; None if it is not an address."""
    if not isinstance(address, str):
        return None
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        whole = socket.inet_pton(family, address)
    except (OSError, ValueError):
        return None
    if whole.startswith(_MAPPED):
        family, whole = socket.AF_INET, whole.removeprefix(_MAPPED)
    kept = _KEPT_BYTES[family]
    return socket.inet_ntop(family, whole[:kept] + bytes(len(whole) - kept))


def _object(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _either(document: dict[str, Any], name: str) -> Any:
    """A field from the place of OpenRTB 2.6, or else from `ext`, the place of 2.5; an empty text is
    no value."""
    found = document.get(name)
    if found is None or found == "":
        found = _object(document, "ext").get(name)
    return None if found == "" else found


def _us_privacy(value: object, ignored: dict[str, int]) -> str | None:
    """`1YNN`: version, notice given, opted out of sale, covered by an agreement."""
    if value is None:
        return None
    found = value.strip().upper() if isinstance(value, str) else ""
    if _US_PRIVACY.fullmatch(found):
        return found
    ignored["regs.us_privacy"] = 1
    return NOT_VALID
