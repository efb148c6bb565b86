"""`/v1/explain`: why a campaign matched a request or did not; and for all campaigns, which
attributes keep them out.

A campaign is explained as it is in the database now. The built-in attributes may be sent here, to
ask about another hour.
"""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.fields import Id
from app.errors.http_errors import Invalid, NotReady
from app.errors.problems import item
from app.match.attributes import Ignored, ignored, refusal_of
from app.match.built_ins import built_ins
from app.middleware.scopes import Reader
from app.openapi.responses import answers
from app.openrtb import MalformedBidRequest, Question, ask, parse
from app.openrtb import answer as answer_to
from app.openrtb.explanation import Candidate, Verdict
from app.openrtb.explanation import explain as explain_offers
from app.openrtb.explanation import funnel as funnel_of_offers
from app.openrtb.privacy import Privacy
from app.state import CurrentState, State
from campaigns.advertiser import service as advertisers
from campaigns.advertiser.model import Advertiser
from campaigns.campaign import explanation
from campaigns.campaign import service as campaigns
from campaigns.campaign.categories import blocked_ones, labels_of
from campaigns.campaign.explanation import explain_tree, funnel_of
from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE
from campaigns.catalogue.model import BLOCKED_CATEGORIES
from campaigns.errors import NotFound
from campaigns.feed.view import View
from campaigns.store import Store
from index import EventError, Index
from index.entry import is_within
from index.score import score_of

router = APIRouter(prefix="/v1/explain", tags=["match"])

MOST_SAMPLED = 2000
MOST_RANKED = 1000
"""How far down the rank of a campaign is counted."""

PAUSE_EVERY, PAUSE = 100, 0.0002
"""The thread that reads trees pauses after every hundred, so that the event loop has its turn."""


class ExcludedIn(BaseModel):
    """Campaigns and advertisers that the request excludes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    campaigns: list[int] = []
    advertisers: list[int] = []


class ExplainIn(BaseModel):
    """A request and a campaign to explain; without a campaign, the funnel of all campaigns."""

    model_config = ConfigDict(extra="forbid")

    campaign_id: Id | None = None
    attributes: dict[str, Any] = Field(
        default={}, description="as for a match; built-in attributes are allowed"
    )
    bid_request: dict[str, Any] | None = Field(
        default=None, description="an OpenRTB bid request, in place of the attributes"
    )
    exclude: ExcludedIn = ExcludedIn()


class Reason(BaseModel):
    """Why a campaign is not eligible."""

    code: str = Field(
        description="draft, paused, archived, advertiser_paused, not_started, over, excluded, "
        "blocked_category, targeting; of a bid request also category_not_allowed, "
        "blocked_advertiser, floor, currency, deals, deal, seat, domain, consent"
    )
    detail: str


class Explained(BaseModel):
    """One campaign, or the funnel of many."""

    campaign_id: int | None
    matched: bool | None = Field(description="whether it matches the request; null for a funnel")
    reasons: list[Reason] = Field(description="why it does not match; empty if it does")
    tree: dict[str, Any] | None = Field(
        description="the targeting as written; each node is true, false or unknown"
    )
    in_the_way: dict[str, Any] | None = Field(
        description="a smallest set of predicates that keep the campaign from matching"
    )
    funnel: dict[str, Any] | None = Field(
        description="for the campaigns in the index, or a sample: what keeps them out"
    )
    offers: list[dict[str, Any]] | None = Field(
        description="of a bid request: each imp, format and deal, matched or every reason"
    )
    ranks: list[dict[str, Any]] | None = Field(
        description="of a bid request: for each imp that it matches, its rank and who is above it"
    )
    request: dict[str, Any] | None = Field(
        description="what the bid request became: attributes by imp and format, and what privacy "
        "withheld"
    )
    ignored: list[str] = Field(description="attributes that the catalogue does not have")
    hints: list[str] = Field(description="what they probably mean")


EXAMPLE: dict[str, Any] = {
    "campaign_id": 1,
    "matched": False,
    "reasons": [{"code": "targeting", "detail": "its targeting is false"}],
    "tree": {
        "kind": "predicate",
        "text": "country = 'US'",
        "value": "false",
        "attribute": "country",
        "got": "FR",
    },
    "in_the_way": {
        "never": False,
        "obstacles": [
            {
                "place": 0,
                "text": "country = 'US'",
                "attribute": "country",
                "value": "false",
                "wanted": "true",
                "got": "FR",
                "why": "country is 'FR'",
            }
        ],
    },
    "funnel": None,
    "offers": None,
    "ranks": None,
    "request": None,
    "ignored": ["contry"],
    "hints": ["contry: did you mean country?"],
}


ASKED: dict[str, Any] = {
    "one campaign": {"value": {"campaign_id": 1, "attributes": {"country": "FR"}}},
    "the funnel": {"value": {"attributes": {"country": "FR"}}},
    "a bid request": {
        "value": {"campaign_id": 1, "bid_request": {"id": "r", "imp": [{"id": "1"}]}}
    },
}
Sent = Annotated[ExplainIn, Body(openapi_examples=ASKED)]


@router.post(
    "",
    summary="Explain why a campaign matches or not",
    response_model=Explained,
    responses=answers(
        EXAMPLE,
        scope="campaigns:read",
        body=True,
        errors={
            "no_such_campaign": NotFound("campaign", 1),
            "wrong_type": Invalid(
                "The attributes are not valid.",
                item("/attributes/age", "type.mismatch", "expected an int, got a string"),
            ),
        },
    ),
)
async def explain_match(_: Reader, sent: Sent, state: CurrentState) -> Response:
    """For one campaign: its targeting as written with the truth value of every part, the values
    that decided, and a smallest set of predicates that keep it out; or why it is not eligible.
    Without a `campaign_id`: how many campaigns are kept out by one attribute alone, by which one,
    and how many by several. `ignored` are attributes that the catalogue does not have."""
    view = state["feed"].current
    if view is None:
        raise NotReady(*state["loading"].progress)
    store = state["store"]
    now = time.time()
    if sent.bid_request is not None:
        if sent.attributes:
            detail = "send attributes or a bid_request, not both"
            raise Invalid(
                "The request is not valid.", item("/bid_request", "field.unknown", detail)
            )
        return responses.json(await _explain_bid(sent, sent.bid_request, view, state, now))
    attributes = {**built_ins(now), **sent.attributes}
    try:
        if sent.campaign_id is None:
            schema = view.index.schema
            unknown = ignored(sent.attributes, schema, view.catalogue)
            answer = _answer(unknown, funnel=await _funnel(view, attributes, store))
        else:
            campaign = await campaigns.get(store, sent.campaign_id)
            owner = await advertisers.get(store, campaign.advertiser_id)
            schema = (await store.catalogue()).schema
            tree = campaign.tree
            explained = await store.analyse(
                len(tree), explain_tree, tree, attributes, schema, store.limits
            )
            answer = _answer(
                ignored(sent.attributes, schema, schema),
                campaign_id=campaign.id,
                **_verdict(campaign, owner, sent, explained, now),
            )
    except EventError as error:
        raise refusal_of(error, "") from None
    return responses.json(answer)


def _answer(unknown: Ignored, **found: Any) -> dict[str, Any]:
    return {**_NOTHING, **found, "ignored": unknown.names, "hints": unknown.hints}


_NOTHING: dict[str, Any] = {
    "campaign_id": None,
    "matched": None,
    "reasons": [],
    "tree": None,
    "in_the_way": None,
    "funnel": None,
    "offers": None,
    "ranks": None,
    "request": None,
}


def _verdict(
    campaign: Campaign,
    owner: Advertiser,
    sent: ExplainIn,
    explained: explanation.Explained,
    now: float,
) -> dict[str, Any]:
    reasons = list(_reasons(campaign, owner, sent.exclude, datetime.fromtimestamp(now, UTC)))
    blocked = blocked_ones(campaign.categories, sent.attributes.get(BLOCKED_CATEGORIES) or ())
    if blocked:
        detail = f"the request blocks its categories {', '.join(blocked)}"
        reasons.append(Reason(code="blocked_category", detail=detail))
    if explained.value is not True:
        word = "false" if explained.value is False else "unknown"
        reasons.append(Reason(code="targeting", detail=f"its targeting is {word}"))
    return {
        "matched": not reasons,
        "reasons": [reason.model_dump() for reason in reasons],
        "tree": orjson.Fragment(explained.tree),
        "in_the_way": orjson.Fragment(explained.in_the_way),
    }


def _reasons(
    campaign: Campaign, owner: Advertiser, excluded: ExcludedIn, now: datetime
) -> list[Reason]:
    reasons = []
    if campaign.status != ACTIVE:
        reasons.append(Reason(code=campaign.status, detail=f"the campaign is {campaign.status}"))
    if owner.status != ACTIVE:
        detail = f"its advertiser {owner.id} is {owner.status}"
        reasons.append(Reason(code="advertiser_paused", detail=detail))
    reasons += _flight(campaign.starts_at, campaign.ends_at, now)
    if campaign.id in excluded.campaigns or owner.id in excluded.advertisers:
        reasons.append(Reason(code="excluded", detail="the request excludes it"))
    return reasons


def _flight(start: datetime | None, end: datetime | None, now: datetime) -> list[Reason]:
    if start is not None and now < start:
        return [Reason(code="not_started", detail=f"it starts at {start.isoformat()}")]
    if end is not None and now >= end:
        return [Reason(code="over", detail=f"it ended at {end.isoformat()}")]
    return []


async def _explain_bid(
    sent: ExplainIn, document: dict[str, Any], view: View, state: State, now: float
) -> dict[str, Any]:
    """What `/v1/openrtb` would do with a bid request, and why."""
    settings, store = state["match_settings"], state["store"]
    try:
        request = parse(orjson.dumps(document), required_purposes=settings.openrtb_purposes)
    except MalformedBidRequest as error:
        wrong = item(f"/bid_request{error.pointer}", error.code, error.detail)
        raise Invalid("This is not an OpenRTB bid request.", wrong) from None
    question = ask(request, view, now, settings.rates, settings.openrtb_table)
    became = {
        "events": [
            {"imp_id": imp.id, "format": each.format, "attributes": each.event}
            for imp in question.imps
            for each in imp.formats
        ],
        "withheld_by": list(request.privacy.reasons),
        "ignored": request.ignored,
        "tolerated": request.tolerated,
    }
    privacy, builtins = request.privacy, built_ins(now)
    if sent.campaign_id is None:
        ids = view.index.sample(MOST_SAMPLED)
        terms = await campaigns.terms_of(store, ids)
        found = await asyncio.to_thread(_bid_funnel, view, question, privacy, builtins, terms, now)
        return {**_NOTHING, "funnel": found, "request": became, "ignored": [], "hints": []}
    campaign = await campaigns.get(store, sent.campaign_id)
    owner = await advertisers.get(store, campaign.advertiser_id)
    moment = datetime.fromtimestamp(now, UTC)
    candidate = Candidate(
        campaign.id,
        campaign.tree,
        score_of(campaign.priority, campaign.bid_micros),
        campaign.advertiser_id,
        labels_of(campaign.categories),
        tuple((r.code, r.detail) for r in _reasons(campaign, owner, sent.exclude, moment)),
    )
    verdicts = await asyncio.to_thread(
        lambda: list(explain_offers(candidate, question, privacy, view, builtins))
    )
    nearest = min(verdicts, key=lambda verdict: len(verdict.reasons))
    event = nearest.each.event if nearest.each is not None else {}
    schema, tree = view.index.schema, campaign.tree
    attributes = {**event, **builtins, **question.builtins}
    explained = await store.analyse(len(tree), explain_tree, tree, attributes, schema, store.limits)
    limit = settings.openrtb_limit
    answered = await asyncio.to_thread(answer_to, question, view, now, builtins, MOST_RANKED)
    ranks = []
    for imp, of in zip(question.imps, answered.imps, strict=True):
        if any(not verdict.reasons for verdict in verdicts if verdict.imp is imp):
            mine = (-candidate.score, candidate.id)
            above = [match.id for match in of.matches if match.rank < mine]
            rank = len(above) + 1
            out = rank > limit
            ranks.append({"imp_id": imp.id, "rank": rank, "outranked": out, "above": above[:10]})
    return {
        **_NOTHING,
        "campaign_id": campaign.id,
        "matched": not nearest.reasons,
        "reasons": nearest.to_dict()["reasons"],
        "tree": orjson.Fragment(explained.tree),
        "in_the_way": orjson.Fragment(explained.in_the_way),
        "offers": [verdict.to_dict() for verdict in verdicts],
        "ranks": ranks,
        "request": became,
        "ignored": [],
        "hints": [],
    }


def _bid_funnel(
    view: View,
    question: Question,
    privacy: Privacy,
    builtins: dict[str, object],
    terms: dict[int, tuple[int, int, datetime | None, datetime | None]],
    now: float,
) -> dict[str, Any]:
    """The funnel of all campaigns in the index, or of a sample, by the reasons of their nearest
    offers."""
    index, muted = view.index, view.index.muted()
    moment = datetime.fromtimestamp(now, UTC)

    def verdicts() -> Iterator[list[Verdict]]:
        for place, (id, (priority, bid, start, end)) in enumerate(terms.items()):
            if place % PAUSE_EVERY == 0:
                time.sleep(PAUSE)
            tree, (group, _) = index.tree_json(id), index.origin(id)
            if tree is None:  # it may have been removed
                continue
            score = score_of(priority, bid)
            reasons = [("advertiser_paused", "its advertiser is paused")] if group in muted else []
            reasons += [(each.code, each.detail) for each in _flight(start, end, moment)]
            candidate = Candidate(id, tree, score, group, index.labels(id), tuple(reasons))
            yield list(explain_offers(candidate, question, privacy, view, builtins))

    return funnel_of_offers(verdicts()) | {"sampled": len(index) > MOST_SAMPLED}


async def _funnel(view: View, attributes: dict[str, Any], store: Store) -> dict[str, Any]:
    """Over all campaigns in the index, or over a sample of them (`sampled`)."""
    total = len(view.index)
    named = attributes.get(BLOCKED_CATEGORIES)
    blocked = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    trees = await asyncio.to_thread(_trees, view.index, frozenset(labels_of(blocked)))
    size, schema = sum(len(tree) for tree, _ in trees), view.index.schema
    found = await store.analyse(size, funnel_of, trees, attributes, schema, store.limits)
    return {"campaigns": total, "sampled": len(trees) < total, **found}


def _trees(index: Index, blocked: frozenset[str]) -> list[tuple[str, bool]]:
    """Trees of campaigns, and whether the request blocks their categories."""
    trees = []
    for place, id in enumerate(index.sample(MOST_SAMPLED)):
        if place % PAUSE_EVERY == 0:
            time.sleep(PAUSE)
        if (tree := index.tree_json(id)) is not None:  # it may have been removed
            labels = index.labels(id) if blocked else ()
            trees.append((tree, any(is_within(label, blocked) for label in labels)))
    return trees
