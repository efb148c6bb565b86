"""A bid request: parsed, its outline checked, without the fields that may not be used.

Only the outline must be valid: an object with an id and imps with ids. Everything else is optional.
The reader of a field ignores and counts a wrong value, since exchanges do send `"w": "300"`.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.openrtb.privacy import REQUIRED_PURPOSES, Privacy, forget, judge

MOST_IMPS = 100
"""Each imp is a search; a page with more ad slots needs two requests."""

_LONGEST_ID = 1000


class MalformedBidRequest(ValueError):
    """The body is not a bid request: HTTP 400. `pointer` says where (RFC 6901)."""

    def __init__(self, pointer: str, code: str, detail: str) -> None:
        super().__init__(f"{pointer or '/'}: {detail}")
        self.pointer = pointer
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Imp:
    """An ad slot."""

    id: str
    document: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class BidRequest:
    """A request with a valid outline; `ignored` counts wrong values in the rest by path."""

    id: str
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


def parse(body: bytes, required_purposes: Collection[int] = REQUIRED_PURPOSES) -> BidRequest:
    """The bid request of a body, or `MalformedBidRequest`.

    `required_purposes` are the TCF purposes that need the user's consent, where the GDPR applies,
    before fields about the user are used.
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
        raise MalformedBidRequest("", "json.malformed", f"the body is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise MalformedBidRequest("", "openrtb.object", "expected an object")
    return document


def _id(document: dict[str, Any], at: str) -> str:
    id = document.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
        detail = f"expected a string of 1 to {_LONGEST_ID} characters"
        raise MalformedBidRequest(f"{at}/id", "openrtb.id", detail)
    return id


def _imps(imps: object) -> tuple[Imp, ...]:
    if not isinstance(imps, list) or not imps:
        raise MalformedBidRequest("/imp", "openrtb.imp", "expected a list of at least one imp")
    if len(imps) > MOST_IMPS:
        detail = f"expected at most {MOST_IMPS} imps, got {len(imps)}"
        raise MalformedBidRequest("/imp", "openrtb.imps", detail)
    found = []
    for place, imp in enumerate(imps):
        if not isinstance(imp, dict):
            raise MalformedBidRequest(f"/imp/{place}", "openrtb.imp", "expected an object")
        found.append(Imp(_id(imp, f"/imp/{place}"), imp))
    return tuple(found)


def _place(document: dict[str, Any]) -> dict[str, Any] | None:
    """The place of the device, or else of the user; never a mix of both."""
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
