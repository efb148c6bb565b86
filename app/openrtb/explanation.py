"""Why a campaign matches an offer of a bid request, or everything that stands in the way.

An offer is a format of an imp, in the open auction or by a deal. A campaign that nothing stands in
the way of is what `answer` finds for it: the tests hold both against each other. This can be slow:
the analyst runs it, so it knows no view.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from app.openrtb.offers import Offer, Targeting
from app.openrtb.privacy import COORDINATES, PERSON, PRECISE, SEGMENTS, Privacy
from app.openrtb.question import ImpQuestion, Question
from index import Exclude, Limits, Schema
from index.costly.formula import Results, named
from index.entry import is_within
from index.event import Event, check_event
from index.explain import WORDS
from index.language import from_json
from index.language.tree import Tree, predicates_of
from index.obstacles import obstacles_to
from index.scan import evaluate
from index.score import bid_of

TARGETING, OUTRANKED = "targeting", "outranked"
MOST_VALUES = 10
"""Of the values that decided."""

WITHHELD: dict[str, tuple[str, ...]] = {
    SEGMENTS: ("user.segments", "user.id_sources"),
    PERSON: ("age", "user.gender"),
    PRECISE: ("geo.zip", "device.ip"),
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
    labels: Sequence[str] = ()
    seat: str | None = None
    domain: str | None = None
    reasons: tuple[tuple[str, str], ...] = ()
    results: Results = field(default_factory=dict)
    """Of its calls."""


class Verdict(NamedTuple):
    """What stands between a campaign and one offer; nothing, if it matches."""

    imp_id: str | int
    format: str | None
    deal_id: str | None
    reasons: Reasons

    def to_dict(self) -> dict[str, Any]:
        """As clients see it."""
        return {
            "imp_id": self.imp_id,
            "format": self.format,
            "deal_id": self.deal_id,
            "matched": not self.reasons,
            "reasons": [{"code": code, "detail": detail} for code, detail in self.reasons],
        }


def explain(
    candidate: Candidate,
    question: Question,
    privacy: Privacy,
    builtins: dict[str, object],
    schema: Schema,
    limits: Limits,
    with_values: bool = True,
) -> list[Verdict]:
    """A verdict for each imp, format and offer, in the order in which `answer` tries them;
    `with_values`, the reason `targeting` has the values that decided."""
    tree = from_json(candidate.tree, schema, limits)
    common = [*candidate.reasons, *_excluded(candidate, question.exclude)]
    builtins = {**builtins, **question.builtins}
    found = []
    for imp in question.imps:
        if not imp.formats:
            found.append(Verdict(imp.id, None, None, [*common, _nobody(imp)]))
        for each in imp.formats:
            sent = {**each.event, **builtins}
            event, _ = check_event(sent, schema)
            event |= named(tree, event, candidate.results)
            value = evaluate(tree, event)
            fits = [] if value else _targeting(tree, event, value, privacy, with_values)
            known = candidate.results
            targeting = Targeting(candidate.tree, sent, schema, limits, known) if value else None
            if imp.open is None:
                found.append(Verdict(imp.id, each.format, None, [*common, _nobody(imp), *fits]))
            for offer in (*([] if imp.open is None else [imp.open]), *imp.deals):
                own = _offer(candidate, offer, targeting)
                reasons = [*common, *own, *fits]
                found.append(Verdict(imp.id, each.format, offer.deal_id, reasons))
    return found


def below_floor(bid: int, floor: int) -> tuple[str, str]:
    """The reason of a bid that is too low; both are in micros."""
    return "floor", f"it bids {bid} micros, the floor is {floor}"


def nearest(verdicts: Sequence[Verdict]) -> Verdict:
    """The one with the fewest reasons."""
    return min(verdicts, key=lambda verdict: len(verdict.reasons))


def funnel(
    candidates: Sequence[Candidate],
    answered: Collection[int],
    question: Question,
    privacy: Privacy,
    builtins: dict[str, object],
    schema: Schema,
    limits: Limits,
) -> dict[str, Any]:
    """How many campaigns are in the answer, and by reason how many it keeps from the offer that
    they are nearest to; `answered` are the ids in the answer."""
    matched = 0
    by_reason: Counter[str] = Counter()
    for candidate in candidates:
        if candidate.id in answered:
            matched += 1
            continue
        verdicts = explain(candidate, question, privacy, builtins, schema, limits, False)
        by_reason.update({code for code, _ in nearest(verdicts).reasons} or {OUTRANKED})
    return {
        "campaigns": len(candidates),
        "matched": matched,
        "by_reason": dict(by_reason.most_common()),
    }


def _nobody(imp: ImpQuestion) -> tuple[str, str]:
    words = {
        "deals": "the auction is private: only deals count",
        "currency": "the floor or the bid is in a currency without a rate",
        "floor": "the floor is not a number that a bid can meet",
    }
    reason = imp.reason or ""
    return reason, words.get(reason, reason)


def _excluded(candidate: Candidate, exclude: Exclude | None) -> Reasons:
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
        named = candidate.domain or candidate.advertiser
        detail = f"the request blocks the domain, an app or the seat of its advertiser {named}"
        found.append(("blocked_advertiser", detail))
    return found


def _offer(candidate: Candidate, offer: Offer, targeting: Targeting | None) -> Reasons:
    found: Reasons = []
    bid = bid_of(candidate.score)
    if bid < offer.floor:
        found.append(below_floor(bid, offer.floor))
    refused = offer.refuses(candidate.seat, candidate.domain)
    if refused is not None:
        own = candidate.seat if refused == "seat" else candidate.domain
        detail = f"only some {refused}s may buy, and its advertiser "
        found.append((refused, detail + (f"has {own}" if own else "has none")))
    if targeting is None:
        return found
    if offer.deal_id is None:
        if not targeting.is_open:
            found.append(("deal", "its targeting is true only because of a deal"))
    elif not targeting.is_for(offer.deal_id):
        found.append(("deal", f"its targeting is not true because of deal {offer.deal_id}"))
    return found


def _targeting(
    tree: Tree, event: Event, value: bool | None, privacy: Privacy, with_values: bool
) -> Reasons:
    said = f"its targeting is {WORDS[value]}"
    if with_values:
        whys = list(dict.fromkeys(each.why for each in obstacles_to(tree, event).obstacles))
        more = [f"and {len(whys) - MOST_VALUES} more"] if len(whys) > MOST_VALUES else []
        said += ": " * bool(whys) + ", ".join([*whys[:MOST_VALUES], *more])
    found = [(TARGETING, said)]
    names = {each.attribute for each in predicates_of(tree)}
    withheld = {name for kind in privacy.withheld for name in WITHHELD[kind]} & names
    if withheld:
        detail = f"{', '.join(sorted(withheld))} may not be used: {', '.join(privacy.reasons)}"
        found.append(("consent", detail))
    return found
