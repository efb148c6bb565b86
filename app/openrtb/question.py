"""The question of a bid request to the index: a common part, an event for each format of an imp.

The fields of the request are read once. An imp adds its own attributes and its offers, and is one
event for each format that it has, with the attributes of this format alone: a banner of 300x250
beside a video of 640x480 is not a banner of 640x480.

Treat what is here as immutable: it is not frozen because that would cost microseconds a request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.openrtb.mapping import TABLE, Table
from app.openrtb.offers import Offer, deal_offers
from app.openrtb.readers import Context
from app.openrtb.request import BidRequest, Imp
from app.openrtb.restrictions import (
    USD,
    NoBid,
    Rates,
    apps,
    bid_currency,
    categories,
    domains,
    floor_micros,
    texts,
)
from campaigns.campaign.categories import labels_of
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.catalogue.vocabulary import FORMATS
from campaigns.feed.view import View
from index import Exclude

NO_RATES: Rates = {}

_MEDIA = {name: {"imp.media": [name]} for name in FORMATS}


@dataclass(slots=True)
class FormatEvent:
    """What an imp is as one of its formats; None if it has no format."""

    format: str | None
    event: dict[str, Any]


@dataclass(slots=True)
class ImpQuestion:
    """The question for an imp. With a `reason` no campaign can match: the index is not asked."""

    id: str | int
    formats: tuple[FormatEvent, ...] = ()
    open: Offer | None = None
    """None if the open auction is closed: only deals may bid, or its floor cannot be converted."""

    deals: tuple[Offer, ...] = ()
    seats: frozenset[str] | None = None
    """The seats that the request allows, by all offers; None if all."""

    reason: str | None = None
    """Why nobody can bid, or why nobody can in the open auction."""

    @property
    def is_plain(self) -> bool:
        """Whether everybody may buy, in the open auction and in no other way."""
        return self.open is not None and self.seats is None and not self.deals

    @property
    def event(self) -> dict[str, Any]:
        """That of the first format."""
        return self.formats[0].event if self.formats else {}


@dataclass(slots=True)
class Question:
    """The questions of a request, for the index."""

    id: str | int
    imps: tuple[ImpQuestion, ...]
    builtins: dict[str, object]
    """In addition to `now.hour` and `now.weekday`."""

    exclude: Exclude | None
    """Blocked advertisers, blocked categories, and all but the allowed ones."""

    currency: str = USD
    """Of a bid, and the US dollars for one unit of it."""
    rate: float = 1.0


def ask(
    request: BidRequest, view: View, at: float, rates: Rates = NO_RATES, table: Table = TABLE
) -> Question:
    """The question of a request at a time; `rates` are US dollars for one unit of a currency."""
    document, privacy = request.document, request.privacy
    context = Context.at(at, request.ignored, request.tolerated)
    common = table.request.attributes(document, view.catalogue, context, privacy.attributes)
    blocked, exclude = _excluded(document, view, context)
    seats = frozenset(texts(document.get("wseat"), "wseat", context)) or None
    currency, rate = USD, 1.0
    try:
        currency, rate = bid_currency(document.get("cur"), rates, context)
        imps = [
            _imp(imp, common, seats, view.catalogue, context, rates, table) for imp in request.imps
        ]
    except NoBid as no:
        imps = [ImpQuestion(imp.id, reason=no.reason) for imp in request.imps]
    return Question(
        id=request.id,
        imps=tuple(imps),
        builtins={BLOCKED_CATEGORIES: blocked} if blocked else {},
        exclude=exclude,
        currency=currency,
        rate=rate,
    )


def _excluded(
    document: Mapping[str, Any], view: View, context: Context
) -> tuple[list[str], Exclude | None]:
    """The blocked categories, and whom the request excludes by `bcat`, `acat`, `badv`, `bapp` and
    `bseat`."""
    taxonomy = document.get("cattax")
    blocked = categories(document.get("bcat"), taxonomy, "bcat", context)
    allowed = categories(document.get("acat"), taxonomy, "acat", context)
    groups = view.advertisers_by_domain.blocked_by(domains(document.get("badv"), "badv", context))
    if listed := document.get("bapp"):
        groups += view.advertisers_by_app.of(apps(listed, "bapp", context))
    if listed := document.get("bseat"):
        groups += view.advertisers_by_seat.of(texts(listed, "bseat", context))
    if not (blocked or allowed or groups):
        return blocked, None
    within = labels_of(allowed) if allowed else None
    return blocked, Exclude(groups=groups, labels=labels_of(blocked), within=within)


def _imp(
    imp: Imp,
    common: dict[str, Any],
    seats: frozenset[str] | None,
    declared: Mapping[str, str],
    context: Context,
    rates: Rates,
    table: Table,
) -> ImpQuestion:
    document = imp.document
    pmp = document.get("pmp")
    deals: tuple[Offer, ...] = ()
    is_private, reason, floor = False, None, None
    ids = None
    if type(pmp) is dict:
        deals = deal_offers(pmp.get("deals"), seats, rates, context)
        is_private = _is_private(pmp.get("private_auction"), context)
        if type(pmp.get("deals")) is list:
            ids = [deal.deal_id for deal in deals]
    elif pmp is not None:
        context.ignore("imp.pmp")
    try:
        floor = floor_micros(document, rates, context, "imp.bidfloor")
    except NoBid as no:
        reason = no.reason
    open = None if is_private or floor is None else Offer(None, floor, seats=seats)
    if open is None and is_private:
        reason = "deals"
    if open is None and not deals:
        return ImpQuestion(imp.id, reason=reason)
    shared = common | table.imp.attributes(
        document,
        declared,
        context,
        {
            "imp.media": [],
            "imp.floor_micros": floor,
            "imp.deals": ids,
            "imp.private_auction": is_private,
        },
    )
    events = []
    for name, fields in table.formats.items():
        found = document.get(name)
        if type(found) is dict:
            own = fields.attributes(found, declared, context, _MEDIA[name])
            events.append(FormatEvent(name, shared | own))
        elif found is not None:
            context.ignore(f"imp.{name}")
    formats = tuple(events) or (FormatEvent(None, shared),)
    return ImpQuestion(imp.id, formats, open, deals, seats, reason)


def _is_private(sent: object, context: Context) -> bool:
    """0 or 1; anything else counts as 1, the stricter one."""
    if sent is None or type(sent) is int:
        return bool(sent)
    context.tolerate("imp.pmp.private_auction")
    return sent not in (0, "0", "")
