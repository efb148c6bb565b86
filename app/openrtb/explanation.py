"""Why a campaign matches an offer of a bid request, or everything that stands in the way.

An offer is a format of an imp, in the open auction or by a deal. A campaign that nothing stands in
the way of is what `answer` finds for it: the tests hold both against each other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.openrtb.offers import Offer, Targeting
from app.openrtb.privacy import COORDINATES, PERSON, PRECISE, SEGMENTS, Privacy
from app.openrtb.question import FormatEvent, ImpQuestion, Question
from campaigns.feed.view import View
from index import Exclude
from index.entry import is_within
from index.event import check_event
from index.language import from_json
from index.language.tree import Tree, predicates_of
from index.scan import evaluate
from index.score import bid_of

TARGETING = "targeting"

WITHHELD: dict[str, tuple[str, ...]] = {
    SEGMENTS: ("user.segments", "user.id_sources"),
    PERSON: ("age", "user.gender"),
    PRECISE: ("geo.zip",),
    COORDINATES: ("geo.lat", "geo.lon", "geo.point"),
}
"""The attributes that each kind of fields becomes."""

Reasons = list[tuple[str, str]]
"""Codes and details."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A campaign to explain; `reasons` are those that are the same for all requests."""

    id: int
    tree: str
    score: int
    advertiser: int
    labels: Sequence[str]
    reasons: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What stands between a campaign and one offer; nothing, if it matches."""

    imp: ImpQuestion
    each: FormatEvent | None
    offer: Offer | None
    reasons: Reasons

    def to_dict(self) -> dict[str, Any]:
        """As clients see it."""
        return {
            "imp_id": self.imp.id,
            "format": self.each.format if self.each else None,
            "deal_id": self.offer.deal_id if self.offer else None,
            "matched": not self.reasons,
            "reasons": [{"code": code, "detail": detail} for code, detail in self.reasons],
        }


def explain(
    candidate: Candidate,
    question: Question,
    privacy: Privacy,
    view: View,
    builtins: dict[str, object],
) -> Iterator[Verdict]:
    """A verdict for each imp, format and offer, in the order in which `answer` tries them."""
    tree = from_json(candidate.tree, view.index.schema, view.index.limits)
    common = [*candidate.reasons, *_excluded(candidate, question.exclude, view)]
    builtins = {**builtins, **question.builtins}
    for imp in question.imps:
        if not imp.formats:
            yield Verdict(imp, None, None, [*common, _nobody(imp)])
        for each in imp.formats:
            event = {**each.event, **builtins}
            checked, _ = check_event(event, view.index.schema)
            value = evaluate(tree, checked)
            fits = _targeting(tree, value, privacy)
            targeting = Targeting(candidate.tree, event, view.index) if value is True else None
            if imp.open is None:
                yield Verdict(imp, each, None, [*common, _nobody(imp), *fits])
            for offer in (*([] if imp.open is None else [imp.open]), *imp.deals):
                own = _offer(candidate, offer, targeting, view)
                yield Verdict(imp, each, offer, [*common, *own, *fits])


def funnel(verdicts: Iterable[list[Verdict]]) -> dict[str, Any]:
    """Over campaigns: how many match an offer, and by reason how many it keeps from the offer that
    they are nearest to."""
    matched, total = 0, 0
    by_reason: Counter[str] = Counter()
    for each in verdicts:
        total += 1
        nearest = min(each, key=lambda verdict: len(verdict.reasons))
        matched += not nearest.reasons
        by_reason.update({code for code, _ in nearest.reasons})
    return {"campaigns": total, "matched": matched, "by_reason": dict(by_reason.most_common())}


def _nobody(imp: ImpQuestion) -> tuple[str, str]:
    words = {
        "deals": "the auction is private: only deals count",
        "currency": "the floor or the bid is in a currency without a rate",
        "floor": "the floor is not a number that a bid can meet",
    }
    reason = imp.reason or ""
    return reason, words.get(reason, reason)


def _excluded(candidate: Candidate, exclude: Exclude | None, view: View) -> Reasons:
    found: Reasons = []
    if exclude is None:
        return found
    blocked = [label for label in candidate.labels if is_within(label, exclude.labels)]
    if blocked:
        found.append(("blocked_category", f"the request blocks {', '.join(blocked)}"))
    within = exclude.within
    if within is not None:
        outside = [label for label in candidate.labels if not is_within(label, within)]
        if outside or not candidate.labels:
            detail = f"the request allows only {', '.join(within)}"
            found.append(("category_not_allowed", detail))
    if candidate.advertiser in exclude.groups:
        named = view.domains.get(candidate.advertiser) or candidate.advertiser
        detail = f"the request blocks the domain, an app or the seat of its advertiser {named}"
        found.append(("blocked_advertiser", detail))
    return found


def _offer(candidate: Candidate, offer: Offer, targeting: Targeting | None, view: View) -> Reasons:
    found: Reasons = []
    bid = bid_of(candidate.score)
    if bid < offer.floor:
        found.append(("floor", f"it bids {bid} micros, the floor is {offer.floor}"))
    refused = offer.refuses(candidate.advertiser, view)
    if refused == "seat":
        seat = view.seats.get(candidate.advertiser)
        found.append(("seat", f"only some seats may buy, and its advertiser's is {seat}"))
    elif refused == "domain":
        own = view.domains.get(candidate.advertiser)
        found.append(("domain", f"only some domains may buy, and its advertiser's is {own}"))
    if targeting is None:
        return found
    if offer.deal_id is None:
        if not targeting.is_open:
            found.append(("deal", "its targeting is true only because of a deal"))
    elif not targeting.is_for(offer.deal_id):
        found.append(("deal", f"its targeting is not true because of deal {offer.deal_id}"))
    return found


def _targeting(tree: Tree, value: bool | None, privacy: Privacy) -> Reasons:
    if value is True:
        return []
    found = [(TARGETING, f"its targeting is {'false' if value is False else 'unknown'}")]
    names = {each.attribute for each in predicates_of(tree)}
    withheld = {name for kind in privacy.withheld for name in WITHHELD[kind]} & names
    if withheld:
        detail = f"{', '.join(sorted(withheld))} may not be used: {', '.join(privacy.reasons)}"
        found.append(("consent", detail))
    return found
