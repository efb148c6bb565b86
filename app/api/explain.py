"""`/v1/explain`: why a campaign matched a request or did not; and for all campaigns, which
attributes keep them out.

A campaign is explained as it is in the database now. The built-in attributes may be sent here, to
ask about another hour.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import eligibility, responses
from app.api.bid_explanation import MOST_SAMPLED, PAUSE, PAUSE_EVERY, BidExplanation
from app.api.fields import Id
from app.errors.http_errors import Invalid, NotReady
from app.errors.problems import item
from app.match.attributes import Ignored, ignored, refusal_of
from app.match.built_ins import built_ins
from app.middleware.scopes import Reader
from app.openapi.responses import answers
from app.openrtb.explanation import below_floor
from app.state import CurrentState, State
from campaigns.advertiser import service as advertisers
from campaigns.advertiser.model import Advertiser
from campaigns.campaign import explanation
from campaigns.campaign import service as campaigns
from campaigns.campaign.categories import blocked_ones, labels_of
from campaigns.campaign.explanation import explain_tree, funnel_of
from campaigns.campaign.model import Campaign
from campaigns.catalogue.model import BLOCKED_CATEGORIES, floor_of
from campaigns.errors import NotFound
from campaigns.feed.view import View
from campaigns.store import Store
from index import EventError, Index
from index.entry import is_within
from index.explain import WORDS

router = APIRouter(prefix="/v1/explain", tags=["match"])

NOTHING_IGNORED = Ignored([], [])


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
        "blocked_category, floor, targeting; of a bid request also category_not_allowed, "
        "blocked_advertiser, currency, deals, deal, seat, domain, consent, outranked"
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
    calls: list[dict[str, Any]] | None = Field(
        description="what the operators that the targeting calls answered: the result, or why "
        "there is none"
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
    "calls": None,
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
        return responses.json(await _explain_bid(sent, sent.bid_request, view, state))
    attributes = {**built_ins(now), **sent.attributes}
    floor = floor_of(sent.attributes, view.catalogue)
    try:
        if sent.campaign_id is None:
            schema = view.index.schema
            unknown = ignored(sent.attributes, schema, view.catalogue)
            answer = _answer(unknown, funnel=await _funnel(view, attributes, floor, store))
        else:
            campaign = await campaigns.get(store, sent.campaign_id)
            owner = await advertisers.get(store, campaign.advertiser_id)
            schema = (await store.catalogue()).schema
            tree = campaign.tree
            asking = await state["operators"].all_calls(tree, [attributes], view)
            explained = await store.analyse(
                len(tree), explain_tree, tree, attributes, schema, store.limits, asking.results
            )
            answer = _answer(
                ignored(sent.attributes, schema, schema),
                campaign_id=campaign.id,
                calls=asking.answered(tree, attributes) or None,
                **_verdict(campaign, owner, sent, explained, floor, now),
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
    "calls": None,
}


def _verdict(
    campaign: Campaign,
    owner: Advertiser,
    sent: ExplainIn,
    explained: explanation.Explained,
    floor: int,
    now: float,
) -> dict[str, Any]:
    reasons = eligibility.reasons(campaign, owner, now)
    if campaign.id in sent.exclude.campaigns or owner.id in sent.exclude.advertisers:
        reasons.append(eligibility.EXCLUDED)
    blocked = blocked_ones(campaign.categories, sent.attributes.get(BLOCKED_CATEGORIES) or ())
    if blocked:
        detail = f"the request blocks its categories {', '.join(blocked)}"
        reasons.append(("blocked_category", detail))
    if campaign.bid_micros < floor:
        reasons.append(below_floor(campaign.bid_micros, floor))
    if explained.value is not True:
        reasons.append(("targeting", f"its targeting is {WORDS[explained.value]}"))
    return {
        "matched": not reasons,
        "reasons": [{"code": code, "detail": detail} for code, detail in reasons],
        "tree": orjson.Fragment(explained.tree),
        "in_the_way": orjson.Fragment(explained.in_the_way),
    }


async def _explain_bid(
    sent: ExplainIn, document: dict[str, Any], view: View, state: State
) -> dict[str, Any]:
    bid = BidExplanation(document, view, state)
    if sent.campaign_id is None:
        found = {"funnel": await bid.funnel()}
    else:
        excluded = sent.exclude
        found = await bid.of_campaign(sent.campaign_id, excluded.campaigns, excluded.advertisers)
    return _answer(NOTHING_IGNORED, **found, request=bid.became)


async def _funnel(
    view: View, attributes: dict[str, Any], floor: int, store: Store
) -> dict[str, Any]:
    """Over all campaigns in the index, or over a sample of them (`sampled`)."""
    total = len(view.index)
    named = attributes.get(BLOCKED_CATEGORIES)
    blocked = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    ids = view.index.sample(MOST_SAMPLED)
    terms = await campaigns.terms_of(store, ids) if floor else {}
    low = {id: bid for id, (_, bid, _, _) in terms.items() if bid < floor}
    trees = await asyncio.to_thread(_trees, view.index, ids, frozenset(labels_of(blocked)), low)
    size, schema = sum(len(tree) for tree, _, _ in trees), view.index.schema
    found = await store.analyse(size, funnel_of, trees, attributes, schema, store.limits)
    return {"campaigns": total, "sampled": len(trees) < total, **found}


def _trees(
    index: Index, ids: Sequence[int], blocked: frozenset[str], low: Mapping[int, int]
) -> list[tuple[str, bool, int | None]]:
    """Trees of campaigns, whether the request blocks their categories, and bids that are too
    low."""
    trees = []
    for place, id in enumerate(ids):
        if place % PAUSE_EVERY == 0:
            time.sleep(PAUSE)
        if (tree := index.tree_json(id)) is not None:  # it may have been removed
            labels = index.labels(id) if blocked else ()
            is_blocked = any(is_within(label, blocked) for label in labels)
            trees.append((tree, is_blocked, low.get(id)))
    return trees
