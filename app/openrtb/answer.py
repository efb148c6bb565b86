"""The answer to a bid request: the best campaigns for each imp, each with its format and offer.

    one event, no deals, no seats     the index gives the best, and that is the answer
    otherwise                         the index gives the best of each format by the lowest floor;
                                      what no offer fits is left out, and more is asked for until
                                      there is enough: first without those that can only be for an
                                      open auction which is closed to them

A campaign is answered once for an imp: for the first format that it matches, and the first deal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

from app.openrtb.offers import DEALS, Offer, Targeting
from app.openrtb.question import FormatEvent, ImpQuestion, Question
from campaigns.feed.view import Place, View
from index import Exclude, Matches, Query
from index.backends.backend import Attributes
from index.costly.formula import NO_RESULTS, Results
from index.score import bid_of

NO_MATCH, DEADLINE = "no_match", "deadline"
_FIRST = 4
"""How many times more candidates than matches are asked for first, and how many times more then."""


@dataclass(slots=True)
class Match:
    """A campaign that matches an imp.

    Treat it as immutable: it is not frozen because that would cost microseconds a request.
    """

    id: int
    score: int
    format: str | None
    offer: Offer

    @property
    def rank(self) -> tuple[int, int]:
        """Higher scores first, then lower ids."""
        return -self.score, self.id


@dataclass(slots=True)
class ImpAnswer:
    """The matches of an imp, best first; `by_format` has those of each of its events. Without a
    match, `reason` says why."""

    matches: Sequence[Match]
    by_format: Sequence[Sequence[Match]]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer for each imp, from one place in the log."""

    imps: tuple[ImpAnswer, ...]
    place: Place
    degraded: bool = False
    """Whether it lacks results of operators."""

    @property
    def reasons(self) -> tuple[str | None, ...]:
        return tuple(imp.reason for imp in self.imps)


Ask = Callable[[Attributes, Query], Matches]


def answer(
    question: Question,
    view: View,
    at: float,
    builtins: dict[str, object],
    limit: int = 10,
    deadline: float = inf,
    ask: Ask | None = None,
    results: Results = NO_RESULTS,
) -> Answer:
    """Ask the index, imp by imp. `builtins` are `now.hour` and `now.weekday`; `limit` is the most
    matches for an imp, at least one. Behind the `deadline`, a `perf_counter`, the rest of the imps
    is not asked for. `ask` is asked in place of the index, and leaves `results` of calls."""
    ask = ask or view.index.ask
    place = view.place  # read first: every answer includes all changes up to here
    builtins = {**builtins, **question.builtins}
    imps: list[ImpAnswer] = []
    for imp in question.imps:
        if imps and perf_counter() > deadline:
            imps.append(ImpAnswer((), (), DEADLINE))
            continue
        found = [
            _matches(question, imp, each, view, at, builtins, limit, ask, results)
            for each in imp.formats
        ]
        best = found[0] if len(found) == 1 else _merged(found, limit)
        reason = None if best else (imp.reason if not imp.formats else None) or NO_MATCH
        imps.append(ImpAnswer(best, found, reason))
    return Answer(tuple(imps), place)


def _merged(found: Sequence[Sequence[Match]], limit: int) -> list[Match]:
    """The best of all formats, each campaign once."""
    first: dict[int, Match] = {}
    for matches in found:
        for match in matches:
            first.setdefault(match.id, match)
    return sorted(first.values(), key=lambda match: match.rank)[:limit]


def _matches(
    question: Question,
    imp: ImpQuestion,
    each: FormatEvent,
    view: View,
    at: float,
    builtins: dict[str, object],
    limit: int,
    ask: Ask,
    results: Results,
) -> list[Match]:
    query = Query(at, limit, False, question.exclude, 0, builtins)
    if imp.is_plain and imp.open is not None:
        query.floor = imp.open.floor
        found = ask(each.event, query)
        format, open = each.format, imp.open
        pairs = zip(found.ids, found.scores or (), strict=True)
        return [Match(id, score, format, open) for id, score in pairs]
    query.floor = min(offer.floor for offer in (imp.open, *imp.deals) if offer is not None)
    event = {**each.event, **builtins}
    matches: list[Match] = []
    seen, size = 0, limit * _FIRST
    while True:
        found = ask(each.event, replace(query, limit=size))
        for id, score in list(zip(found.ids, found.scores or (), strict=True))[seen:]:
            offer = offer_for(imp, id, score, event, view, results)
            if offer is not None:
                matches.append(Match(id, score, each.format, offer))
                if len(matches) == limit:
                    return matches
        if len(found) < size:
            return matches
        if seen == 0 and (hopeless := _hopeless(imp, each, query, view)):
            exclude = question.exclude or Exclude()
            query.exclude = replace(exclude, ids=[*exclude.ids, *hopeless])
            seen, matches = 0, []
        else:
            seen = size
        size *= _FIRST


def _hopeless(imp: ImpQuestion, each: FormatEvent, query: Query, view: View) -> set[int]:
    """Campaigns that are for the open auction, and cannot buy there. In a private auction these can
    be nearly all: the index leaves them out faster than they are looked at."""
    if imp.open is not None and imp.open.floor <= query.floor:
        return set()
    event = {**each.event, DEALS: []} if DEALS in each.event else each.event

    def without_deals(floor: int) -> set[int]:
        return set(view.index.ask(event, replace(query, limit=None, floor=floor)).ids)

    found = without_deals(query.floor)
    return found if imp.open is None else found - without_deals(imp.open.floor)


def offer_for(
    imp: ImpQuestion,
    id: int,
    score: int,
    event: dict[str, object],
    view: View,
    results: Results,
) -> Offer | None:
    """The offer that a campaign whose targeting is true takes, if there is one; `results` are those
    of its calls."""
    advertiser, _ = view.index.origin(id)
    seat, domain = view.seats.get(advertiser), view.domains.get(advertiser)
    if imp.seats is not None and seat not in imp.seats:
        return None
    text = view.index.tree_json(id)
    if text is None:  # it was removed just now
        return None
    targeting = Targeting(text, event, view.index.schema, view.index.limits, results)
    if targeting.is_open:
        candidates: Sequence[Offer] = () if imp.open is None else (imp.open,)
    else:
        candidates = targeting.candidates(imp.deals)
    bid = bid_of(score)
    for offer in candidates:
        fits = bid >= offer.floor and offer.refuses(seat, domain) is None
        if fits and (offer.deal_id is None or targeting.is_for(offer.deal_id)):
            return offer
    return None
