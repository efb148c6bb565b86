"""A bid request as it came in: read, checked as far as it must be, without what may not be used.

Only its outline has to be right: an object with an id and imps with ids. Everything else is
optional, and what is wrong in it is ignored and counted by the reader of that field, since
exchanges do send `"w": "300"` now and then.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.openrtb.privacy import REQUIRED_PURPOSES, Privacy, forget, judge

MOST_IMPS = 100
"""Each imp is a search; a page with more places than this asks in two requests."""

_LONGEST_ID = 1000


class MalformedBidRequest(ValueError):
    """The body is no bid request: HTTP 400. `pointer` says where (RFC 6901)."""

    def __init__(self, pointer: str, code: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Imp:
    """A place for an ad."""

    id: str
    document: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class BidRequest:
    """A request whose outline is right; `ignored` counts by path what is wrong in the rest."""

    id: str
    imps: tuple[Imp, ...]
    privacy: Privacy
    deadline_ms: int | None
    """Within this the exchange wants its answer: `tmax`."""

    test: bool
    """Nobody will be charged: it is not logged."""

    document: dict[str, Any] = field(repr=False)
    """The request without what `privacy.forget` takes out. `geo` in it is the device's, or the
    user's where the device has none."""

    ignored: dict[str, int]


def parse(body: bytes, required_purposes: Collection[int] = REQUIRED_PURPOSES) -> BidRequest:
    """The bid request of a body, or `MalformedBidRequest`.

    `required_purposes` are those of the TCF that the user must have consented to, where the GDPR
    applies, for anything about the user to be used.
    """
    document = _object(body)
    id = _id(document, "")
    imps = _imps(document.get("imp"))
    ignored: dict[str, int] = {}
    privacy = judge(document, required_purposes, ignored)
    forget(document, privacy)
    document["geo"] = _place(document)
    return BidRequest(
        id=id,
        imps=imps,
        privacy=privacy,
        deadline_ms=_deadline(document.get("tmax"), ignored),
        test=document.get("test") not in (None, 0),
        document=document,
        ignored=ignored,
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedBidRequest("", "json.malformed", f"this is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise MalformedBidRequest("", "openrtb.object", "a bid request is an object")
    return document


def _id(document: dict[str, Any], at: str) -> str:
    id = document.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
        detail = f"an id is a string of 1 to {_LONGEST_ID} characters"
        raise MalformedBidRequest(f"{at}/id", "openrtb.id", detail)
    return id


def _imps(imps: object) -> tuple[Imp, ...]:
    if not isinstance(imps, list) or not imps:
        raise MalformedBidRequest("/imp", "openrtb.imp", "there must be a list of imps, not empty")
    if len(imps) > MOST_IMPS:
        detail = f"at most {MOST_IMPS} imps, not {len(imps)}"
        raise MalformedBidRequest("/imp", "openrtb.imps", detail)
    found = []
    for place, imp in enumerate(imps):
        if not isinstance(imp, dict):
            raise MalformedBidRequest(f"/imp/{place}", "openrtb.imp", "an imp is an object")
        found.append(Imp(_id(imp, f"/imp/{place}"), imp))
    return tuple(found)


def _place(document: dict[str, Any]) -> dict[str, Any] | None:
    """Where the device is; the user's home only if that says nothing. Never some of each."""
    for name in ("device", "user"):
        owner = document.get(name)
        if isinstance(owner, dict) and isinstance(geo := owner.get("geo"), dict) and geo:
            return geo
    return None


def _deadline(tmax: object, ignored: dict[str, int]) -> int | None:
    if isinstance(tmax, int | float) and not isinstance(tmax, bool) and 0 < tmax < 2**53:
        return int(tmax) or None
    if tmax not in (None, 0):
        ignored["tmax"] = 1
    return None
