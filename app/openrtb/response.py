"""The bytes of an answer: matches for each imp, or a BidResponse of OpenRTB 2.6.

    {"id":"…","imps":[{"id":"1","matches":[{"campaign_id":7,…,"format":"banner","deal_id":null}]}],…}
    {"id":"…","cur":"USD","seatbid":[{"seat":"s","bid":[{"id":"1-7","impid":"1","price":1.2,…}]}]}

Without a match for any imp there is no body (HTTP 204), or a BidResponse with only a reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import orjson

from app.openrtb.answer import DEADLINE, NO_MATCH, Answer, Match
from app.openrtb.question import ImpQuestion, Question
from app.openrtb.restrictions import USD
from campaigns.campaign.categories import CONTENT_1
from campaigns.feed.view import View
from index.score import bid_of, priority_of

Names = Mapping[int, Mapping[str, Any]]
"""`external_id` and `advertiser_id` of campaigns, as far as they are known."""

MARKUP = {"banner": 1, "video": 2, "audio": 3, "native": 4}
"""`mtype` of a bid."""

NO_BID = {
    DEADLINE: 15,  # insufficient auction time
    "overload": 15,
    NO_MATCH: 501,
    "floor": 502,
    "currency": 503,
    "deals": 504,
}
"""`nbr`: from 500 on the codes are our own."""


def matches(question: Question, answer: Answer, view: View, names: Names) -> bytes | None:
    """The matches of each imp; None if no imp has any."""
    if all(answer.reasons):
        return None
    return orjson.dumps(
        {
            "id": question.id,
            "imps": [
                {"id": imp.id, "matches": _listed(of.matches, view, names)}
                for imp, of in zip(question.imps, answer.imps, strict=True)
            ],
            **({"degraded": True} if answer.degraded else {}),
            "epoch": answer.place.epoch,
            "rev": answer.place.rev,
        }
    )


def _listed(matches: Sequence[Match], view: View, names: Names) -> list[dict[str, Any]]:
    seat_of, domain_of = view.seats.get, view.domains.get
    listed = []
    for match in matches:
        id, score, offer = match.id, match.score, match.offer
        known = names.get(id)
        advertiser = view.index.origin(id)[0] if known is None else known["advertiser_id"]
        domain = domain_of(advertiser)
        found = {
            "campaign_id": id,
            "priority": priority_of(score),
            "bid_micros": bid_of(score),
            "currency": USD,
            "format": match.format,
            "deal_id": offer.deal_id,
            "advertiser_id": advertiser,
            "seat": seat_of(advertiser),
            "adomain": [domain] if domain else [],
        }
        if known is not None:
            found["external_id"] = known["external_id"]
        if offer.fixed:
            found["price_micros"] = offer.floor
        listed.append(found)
    return listed


def bid_response(question: Question, answer: Answer, view: View) -> bytes | None:
    """A BidResponse with all matches; None if there are none."""
    if all(answer.reasons):
        return None
    by_seat: dict[str | None, list[dict[str, Any]]] = {}
    for imp, of in zip(question.imps, answer.imps, strict=True):
        for match in of.matches:
            advertiser, _ = view.index.origin(match.id)
            seat = view.seats.get(advertiser)
            by_seat.setdefault(seat, []).append(_bid(question, imp, match, advertiser, view))
    return orjson.dumps(
        {
            "id": str(question.id),
            "seatbid": [
                {"bid": bids} if seat is None else {"seat": seat, "bid": bids}
                for seat, bids in by_seat.items()
            ],
            "cur": question.currency,
        }
    )


def no_bid_response(id: str | int, reason: str) -> bytes:
    """An empty BidResponse with its reason."""
    return orjson.dumps({"id": str(id), "nbr": NO_BID.get(reason, 0)})


def _bid(
    question: Question, imp: ImpQuestion, match: Match, advertiser: int, view: View
) -> dict[str, Any]:
    offer = match.offer
    micros = offer.floor if offer.fixed else bid_of(match.score)
    bid: dict[str, Any] = {
        "id": f"{imp.id}-{match.id}",
        "impid": str(imp.id),
        "price": round(micros / 1e6 / question.rate, 6),
        "cid": str(match.id),
        "crid": str(match.id),
    }
    if domain := view.domains.get(advertiser):
        bid["adomain"] = [domain]
    if cat := _categories(view.index.labels(match.id)):
        bid |= cat
    if offer.deal_id is not None:
        bid["dealid"] = offer.deal_id
    if match.format is not None:
        bid["mtype"] = MARKUP[match.format]
    return bid


def _categories(labels: Iterable[str]) -> dict[str, Any]:
    """`cat` and `cattax`; of several taxonomies, the one with the lowest number."""
    by_taxonomy: dict[int, list[str]] = {}
    for label in labels:
        code = unquote(label.rpartition("/")[2])
        number, colon, rest = code.partition(":")
        of_other = bool(colon) and number.isdecimal()
        taxonomy = int(number) if of_other else CONTENT_1
        by_taxonomy.setdefault(taxonomy, []).append(rest if of_other else code)
    if not by_taxonomy:
        return {}
    taxonomy = min(by_taxonomy)
    return {"cat": by_taxonomy[taxonomy], "cattax": taxonomy}
