"""A bid request: parsed, its outline checked, without the fields that may not be used.

Only the outline must be valid: an object with an id and at least one imp with an id. Everything
else is optional. What is wrong is ignored and counted, what can only mean one thing (`"w": "300"`)
is used and counted: exchanges do send both.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.openrtb.json_repair import repaired
from app.openrtb.privacy import REQUIRED_PURPOSES, Privacy, forget, judge

MOST_IMPS = 1000
"""Each imp is at least one search."""

_LONGEST_ID = 1000
_ID = f"expected a string of 1 to {_LONGEST_ID} characters, or an integer"


class MalformedBidRequest(ValueError):
    """The body is not a bid request: HTTP 400. `pointer` says where (RFC 6901)."""

    def __init__(self, pointer: str, code: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.code = code
        self.detail = detail


@dataclass(slots=True)
class Imp:
    """An ad slot; `id` is echoed as it was sent."""

    id: str | int
    document: dict[str, Any] = field(repr=False)


@dataclass(slots=True)
class BidRequest:
    """A request with a valid outline. By path, `ignored` counts wrong values in the rest, and
    `tolerated` those that were used although the specification writes them in another way.

    Treat it as immutable: it is not frozen because that would cost a microsecond a request.
    """

    id: str | int
    imps: tuple[Imp, ...]
    privacy: Privacy
    deadline_ms: int | None
    """The time that the exchange waits for the answer: `tmax`."""

    test: bool
    """A test, which is not billed: it is not logged."""

    document: dict[str, Any] = field(repr=False)
    """The request without the fields that `privacy.forget` removes. Its `geo` is that of the
    device, or of the user if the device has none."""

    ignored: dict[str, int]
    tolerated: dict[str, int]


def parse(body: bytes, required_purposes: Collection[int] = REQUIRED_PURPOSES) -> BidRequest:
    """The bid request of a body, or `MalformedBidRequest`.

    `required_purposes` are the TCF purposes that need the user's consent, where the GDPR applies,
    before fields about the user are used.
    """
    ignored: dict[str, int] = {}
    tolerated: dict[str, int] = {}
    document = _object(body, tolerated)
    if "openrtb" in document and "imp" not in document:
        detail = "this is OpenRTB 3.0, which is not supported; send version 2.5 or 2.6"
        raise MalformedBidRequest("/openrtb", "openrtb.version", detail)
    id = _id(document)
    if id is None:
        raise MalformedBidRequest("/id", "openrtb.id", _ID)
    if type(id) is int:
        tolerated["id"] = 1
    imps = _imps(document.get("imp"), ignored, tolerated)
    privacy = judge(document, required_purposes, ignored, tolerated)
    owner = _located(document)  # before fields are removed: that must not bring in another place
    forget(document, privacy, ignored)
    document["geo"] = owner.get("geo")
    return BidRequest(
        id=id,
        imps=imps,
        privacy=privacy,
        deadline_ms=_deadline(document.get("tmax"), ignored, tolerated),
        test=document.get("test") not in (None, 0, "0"),
        document=document,
        ignored=ignored,
        tolerated=tolerated,
    )


def _object(body: bytes, tolerated: dict[str, int]) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        try:
            document = orjson.loads(repaired(body))
        except orjson.JSONDecodeError:
            detail = f"the body is not JSON: {error}"
            raise MalformedBidRequest("", "json.malformed", detail) from None
        tolerated["body"] = 1
    if not isinstance(document, dict):
        raise MalformedBidRequest("", "openrtb.object", "expected an object")
    return document


def _id(document: dict[str, Any]) -> str | int | None:
    id = document.get("id")
    if type(id) is int:
        return id
    return id if isinstance(id, str) and 0 < len(id) <= _LONGEST_ID else None


def _imps(imps: object, ignored: dict[str, int], tolerated: dict[str, int]) -> tuple[Imp, ...]:
    """The imps that have an id, each id once. The others are left out, unless there is no good
    one."""
    if not isinstance(imps, list) or not imps:
        raise MalformedBidRequest("/imp", "openrtb.imp", "expected a list of at least one imp")
    if len(imps) > MOST_IMPS:
        detail = f"expected at most {MOST_IMPS} imps, got {len(imps)}"
        raise MalformedBidRequest("/imp", "openrtb.imps", detail)
    found: dict[str, Imp] = {}
    for imp in imps:
        id = _id(imp) if isinstance(imp, dict) else None
        if id is None:
            ignored["imp"] = ignored.get("imp", 0) + 1
        elif (name := str(id)) in found:
            ignored["imp.id"] = ignored.get("imp.id", 0) + 1
        else:
            found[name] = Imp(id, imp)
            if type(id) is int:
                tolerated["imp.id"] = tolerated.get("imp.id", 0) + 1
    if not found:
        if not isinstance(imps[0], dict):
            raise MalformedBidRequest("/imp/0", "openrtb.imp", "expected an object")
        raise MalformedBidRequest("/imp/0/id", "openrtb.id", _ID)
    return tuple(found.values())


def _located(document: dict[str, Any]) -> dict[str, Any]:
    """The device if it has a place, or else the user; never a mix of both."""
    for name in ("device", "user"):
        owner = document.get(name)
        if isinstance(owner, dict) and isinstance(geo := owner.get("geo"), dict) and geo:
            return owner
    return {}


def _deadline(tmax: object, ignored: dict[str, int], tolerated: dict[str, int]) -> int | None:
    if isinstance(tmax, str) and tmax.strip().isdecimal():
        tmax = float(tmax)
        tolerated["tmax"] = 1
    if isinstance(tmax, int | float) and not isinstance(tmax, bool) and 0 < tmax < 2**53:
        return int(tmax) or None
    if tmax not in (None, 0):
        ignored["tmax"] = 1
    return None
