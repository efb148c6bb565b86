"""Offers: the ways in which an imp can be bought. In the open auction, or by one of its deals.

A campaign matches an offer if its targeting is true, its bid is at least the offer's floor, and the
offer does not exclude its advertiser. Its targeting sees all deals of the imp (`imp.deals`), and
which offer it is for follows from what these deals change:

    true without any deal                              the open auction
    true because of deal A: with A alone, or with      deal A
    all deals and not without A (`all of ('A', 'B')`)

So a campaign is for the open auction or for deals, never for both. `docs/decisions/0022` has the
reasons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.openrtb.domains import suffixes
from app.openrtb.readers import LONGEST_LIST, Context
from app.openrtb.restrictions import NoBid, Rates, domains, floor_micros, texts
from index import Limits, Schema
from index.costly.formula import NO_RESULTS, Results, named
from index.event import check_event
from index.language import from_json
from index.language.tree import Tree, predicates_of
from index.scan import evaluate

DEALS = "imp.deals"
FIXED_PRICE = 3
"""The auction type of a deal whose floor is its price."""

_MENTION = f'"{DEALS}"'


@dataclass(slots=True)
class Offer:
    """`deal_id` is None for the open auction. With `seats` or `domains`, only advertisers that have
    one of these may buy.

    Treat it as immutable: it is not frozen because that would cost a microsecond a request.
    """

    deal_id: str | None
    floor: int
    fixed: bool = False
    seats: frozenset[str] | None = None
    domains: frozenset[str] | None = None

    def refuses(self, seat: str | None, domain: str | None) -> str | None:
        """Why this offer is not for an advertiser: `seat`, `domain`, or None if it is."""
        if self.seats is not None and seat not in self.seats:
            return "seat"
        if self.domains is not None and self.domains.isdisjoint(suffixes(domain or "")):
            return "domain"
        return None


def deal_offers(
    deals: object, seats: frozenset[str] | None, rates: Rates, context: Context
) -> tuple[Offer, ...]:
    """The offers of `pmp.deals`, each id once. A deal without a floor has none; a deal whose floor
    cannot be read or converted is left out. `seats` are those that the request allows."""
    found: dict[str, Offer] = {}
    if not isinstance(deals, list):
        if deals is not None:
            context.ignore("imp.pmp.deals")
        return ()
    if len(deals) > LONGEST_LIST:
        context.ignore("imp.pmp.deals")
    for deal in deals[:LONGEST_LIST]:
        id = context.text(deal.get("id")) if isinstance(deal, dict) else None
        if id is None:
            context.ignore("imp.pmp.deals.id")
            continue
        context.settle("imp.pmp.deals.id")
        if id in found:
            continue
        try:
            floor = floor_micros(deal, rates, context, "imp.pmp.deals.bidfloor")
        except NoBid:
            context.ignore("imp.pmp.deals.bidfloor")
            continue
        is_fixed = context.integer(deal.get("at")) == FIXED_PRICE
        context.settle("imp.pmp.deals.at")
        own = texts(deal.get("wseat"), "imp.pmp.deals.wseat", context)
        allowed = domains(deal.get("wadomain"), "imp.pmp.deals.wadomain", context)
        found[id] = Offer(
            id,
            floor,
            is_fixed,
            both(frozenset(own) or None, seats),
            frozenset(allowed) or None,
        )
    return tuple(found.values())


def both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """What two lists allow together; None allows everything."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


class Targeting:
    """What the deals of an event change for one campaign whose targeting the event makes true."""

    def __init__(
        self,
        text: str,
        event: Mapping[str, Any],
        schema: Schema,
        limits: Limits,
        results: Results = NO_RESULTS,
    ) -> None:
        """`results` are those of its calls."""
        self._tree: Tree | None = None
        if DEALS in event and _MENTION in text:
            self._tree, self._mentioned = _read(text, schema, limits)
            self._event, _ = check_event(event, schema)
            self._event |= named(self._tree, self._event, results)
            deals: Any = self._event[DEALS]
            self._deals: frozenset[str] = deals
        self.is_open = self._tree is None or self._holds(frozenset())
        """Whether it is true without any deal."""

    def is_for(self, deal_id: str) -> bool:
        """Whether it is true because of this deal."""
        if self.is_open:
            return False
        alone = frozenset((deal_id,))
        return self._holds(alone) or not self._holds(self._deals - alone)

    def candidates(self, offers: Sequence[Offer]) -> Sequence[Offer]:
        """Those of the offers that it can be for. What it does not mention is for it only if any
        deal is."""
        if self.is_open:
            return ()
        unknown = next((o.deal_id for o in offers if o.deal_id not in self._mentioned), None)
        if unknown is not None and self.is_for(unknown):
            return offers
        return [offer for offer in offers if offer.deal_id in self._mentioned]

    def _holds(self, deals: frozenset[str]) -> bool:
        assert self._tree is not None
        return evaluate(self._tree, {**self._event, DEALS: deals}) is True


@lru_cache(maxsize=4096)
def _read(text: str, schema: Schema, limits: Limits) -> tuple[Tree, frozenset[object]]:
    """A tree, and the deals that it mentions."""
    tree = from_json(text, schema, limits)
    of_deals = (each for each in predicates_of(tree) if each.attribute == DEALS)
    return tree, frozenset(value for each in of_deals for value in each.values)
