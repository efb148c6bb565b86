"""The answer to a bid request: the best campaigns for each imp, as bytes.

    {"id":"…","imps":[{"id":"1","matches":[{"campaign_id":7,…}]}],"epoch":"…","rev":42}

Without a match for any imp there is no body (HTTP 204).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from app.openrtb.question import ImpQuestion, Question
from campaigns.campaign.categories import ancestors, category
from campaigns.feed.view import Categories, View
from index import Exclude, Matches, Query

NO_MATCH = "no_match"
_NONE = b'{"matches":[]}'
_DEALS = "imp.deals"


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is None if no imp has a match. For each imp, `parts` has its JSON in the body,
    `counts` the number of its matches, and `reasons` why it has none, or None if it has some."""

    body: bytes | None
    reasons: tuple[str | None, ...]
    parts: tuple[bytes, ...]
    counts: tuple[int, ...]


def answer(
    question: Question, view: View, at: float, builtins: dict[str, object], limit: int = 10
) -> Answer:
    """Ask the index, imp by imp. `builtins` are `now.hour` and `now.weekday`; `limit` is the most
    matches for an imp, at least one."""
    place = view.place  # read first: every answer includes all changes up to here
    builtins = {**builtins, **question.builtins}
    parts, counts, reasons = [], [], []
    for imp in question.imps:
        matches = None if imp.reason else _ask(question, imp, view, at, builtins, limit)
        count = len(matches) if matches else 0
        parts.append(matches.to_json(b"}") if matches else _NONE)
        counts.append(count)
        reasons.append(None if count else imp.reason or NO_MATCH)
    body = None
    if not all(reasons):
        imps = b",".join(
            b'{"id":%b,%b' % (orjson.dumps(imp.id), part[1:])
            for imp, part in zip(question.imps, parts, strict=True)
        )
        head = (orjson.dumps(question.id), imps, orjson.dumps(place.epoch), place.rev)
        body = b'{"id":%b,"imps":[%b],"epoch":%b,"rev":%d}' % head
    return Answer(body, tuple(reasons), tuple(parts), tuple(counts))


def _ask(
    question: Question,
    imp: ImpQuestion,
    view: View,
    at: float,
    builtins: dict[str, object],
    limit: int,
) -> Matches:
    exclude = question.exclude
    if imp.offers is not None or question.allowed is not None:
        outside = _outside(question, imp, view, at, builtins)
        exclude = Exclude(outside, exclude.groups if exclude else ())
    return view.index.ask(imp.event, Query(at, limit, False, exclude, imp.floor, builtins))


def _outside(
    question: Question, imp: ImpQuestion, view: View, at: float, builtins: dict[str, object]
) -> list[int]:
    """Campaigns that match and may not bid: without a deal whose floor they meet, or outside of the
    allowed categories. It looks at every match; only such requests pay for that."""
    event = {**imp.event, **builtins}

    def matching(changed: dict[str, object], floor: int) -> set[int]:
        query = Query(at, exclude=question.exclude, floor=floor)
        return set(view.index.ask({**event, **changed}, query).ids)

    everybody = matching({}, imp.floor)
    invited = everybody
    if imp.offers is not None:
        if [ids for _, ids in imp.offers] != [imp.event.get(_DEALS)]:
            invited = set().union(*(matching({_DEALS: ids}, floor) for floor, ids in imp.offers))
        # A campaign that also matches without a deal does not match because of one.
        invited = invited - matching({_DEALS: []}, imp.floor)
    if question.allowed is not None:
        invited = invited.intersection(_within(question.allowed, invited, view.categories))
    return list(everybody - invited)


def _within(allowed: frozenset[str], ids: Iterable[int], categories: Categories) -> Iterable[int]:
    """The ids whose categories, at least one, are all allowed or below an allowed one."""
    known: dict[tuple[str, ...], bool] = {}
    for id in ids:
        some = categories.get(id)
        if some not in known:
            codes = [category(code) for code in some]
            known[some] = bool(codes) and all(
                not allowed.isdisjoint((code, *ancestors(code))) for code in codes
            )
        if known[some]:
            yield id
