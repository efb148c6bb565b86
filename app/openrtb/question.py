"""The question of a bid request to the index: a common part, and an event for each imp.

The fields of the request are read once; an imp adds its own attributes, its floor, and its deals if
only these may bid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.openrtb.mapping import IMP_FIELDS, REQUEST_FIELDS
from app.openrtb.readers import Context, cautious_flag
from app.openrtb.request import BidRequest, Imp
from app.openrtb.restrictions import (
    NoBid,
    Rates,
    categories,
    check_currencies,
    domains,
    floor_micros,
    offers,
)
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.feed.view import View
from index import Exclude

NO_RATES: Rates = {}


@dataclass(frozen=True, slots=True)
class ImpQuestion:
    """The question for an imp. With a `reason` no campaign can match: the index is not asked."""

    id: str
    event: dict[str, Any] = field(default_factory=dict)
    floor: int = 0
    offers: list[tuple[int, list[str]]] | None = None
    """Deals by their floors, if only these may bid."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """The questions of a request, for the index."""

    id: str
    imps: tuple[ImpQuestion, ...]
    builtins: dict[str, object]
    """In addition to `now.hour` and `now.weekday`."""

    exclude: Exclude | None
    allowed: frozenset[str] | None
    """The only categories that may bid."""


def ask(request: BidRequest, view: View, at: float, rates: Rates = NO_RATES) -> Question:
    """The question of a request at a time; `rates` are US dollars for one unit of a currency."""
    document = request.document
    context = Context.at(at, request.privacy, request.ignored)
    common = REQUEST_FIELDS.attributes(document, view.catalogue, context)
    taxonomy = document.get("cattax")
    blocked = categories(document.get("bcat"), taxonomy)
    allowed = categories(document.get("acat"), taxonomy)
    advertisers = view.advertisers_by_domain.blocked_by(domains(document.get("badv")))
    return Question(
        id=request.id,
        imps=tuple(
            _imp(imp, common, document.get("cur"), view.catalogue, context, rates)
            for imp in request.imps
        ),
        builtins={BLOCKED_CATEGORIES: blocked} if blocked else {},
        exclude=Exclude(groups=advertisers) if advertisers else None,
        allowed=frozenset(allowed) if allowed else None,
    )


def _imp(
    imp: Imp,
    common: dict[str, Any],
    currencies: object,
    declared: Mapping[str, str],
    context: Context,
    rates: Rates,
) -> ImpQuestion:
    try:
        check_currencies(currencies, rates)
        floor, deals = _terms(imp.document, context, rates)
    except NoBid as no:
        return ImpQuestion(imp.id, reason=no.reason)
    context.floor = floor
    event = common | IMP_FIELDS.attributes({"imp": imp.document}, declared, context)
    return ImpQuestion(imp.id, event, floor, deals)


def _terms(
    imp: dict[str, Any], context: Context, rates: Rates
) -> tuple[int, list[tuple[int, list[str]]] | None]:
    """The floor of an imp; in a private auction the lowest floor of its deals, and the deals."""
    pmp = imp.get("pmp")
    if isinstance(pmp, dict) and cautious_flag(pmp.get("private_auction") or 0, pmp, context):
        deals = offers(pmp.get("deals"), imp, rates)
        return deals[0][0], deals
    return floor_micros(imp, rates), None
