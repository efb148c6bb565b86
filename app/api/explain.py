"""`/v1/explain`: why a campaign matched a request or did not; and for all campaigns, which
attributes keep them out.

A campaign is explained as it is in the database now. The built-in attributes may be sent here, to
ask about another hour.
"""

import asyncio
import time
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
from app.state import CurrentState
from campaigns.advertiser import service as advertisers
from campaigns.advertiser.model import Advertiser
from campaigns.campaign import explanation
from campaigns.campaign import service as campaigns
from campaigns.campaign.categories import for_index
from campaigns.campaign.explanation import explain_tree, funnel_of
from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE
from campaigns.errors import NotFound
from campaigns.feed.view import View
from campaigns.store import Store
from index import EventError, Index

router = APIRouter(prefix="/v1/explain", tags=["match"])

MOST_SAMPLED = 2000
PAUSE_EVERY, PAUSE = 100, 0.0002
"""The thread that reads trees pauses after every hundred, so that the event loop has its turn."""


class ExcludedIn(BaseModel):
    """Campaigns and advertisers that the request excludes."""

    model_config = ConfigDict(extra="forbid")

    campaigns: list[int] = []
    advertisers: list[int] = []


class ExplainIn(BaseModel):
    """A request and a campaign to explain; without a campaign, the funnel of all campaigns."""

    model_config = ConfigDict(extra="forbid")

    campaign_id: Id | None = None
    attributes: dict[str, Any] = Field(
        description="as for a match; built-in attributes are allowed"
    )
    exclude: ExcludedIn = ExcludedIn()


class Reason(BaseModel):
    """Why a campaign is not eligible."""

    code: str = Field(
        description="draft, paused, archived, advertiser_paused, not_started, over, excluded, "
        "targeting"
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
    "ignored": ["contry"],
    "hints": ["contry: did you mean country?"],
}


ASKED: dict[str, Any] = {
    "one campaign": {"value": {"campaign_id": 1, "attributes": {"country": "FR"}}},
    "the funnel": {"value": {"attributes": {"country": "FR"}}},
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
                **_verdict(campaign, owner, sent.exclude, explained, now),
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
}


def _verdict(
    campaign: Campaign,
    owner: Advertiser,
    excluded: ExcludedIn,
    explained: explanation.Explained,
    now: float,
) -> dict[str, Any]:
    reasons = list(_reasons(campaign, owner, excluded, datetime.fromtimestamp(now, UTC)))
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
    if campaign.starts_at is not None and now < campaign.starts_at:
        detail = f"it starts at {campaign.starts_at.isoformat()}"
        reasons.append(Reason(code="not_started", detail=detail))
    if campaign.ends_at is not None and now >= campaign.ends_at:
        detail = f"it ended at {campaign.ends_at.isoformat()}"
        reasons.append(Reason(code="over", detail=detail))
    if campaign.id in excluded.campaigns or owner.id in excluded.advertisers:
        reasons.append(Reason(code="excluded", detail="the request excludes it"))
    return reasons


async def _funnel(view: View, attributes: dict[str, Any], store: Store) -> dict[str, Any]:
    """Over all campaigns in the index, or over a sample of them (`sampled`)."""
    total = len(view.index)
    trees = await asyncio.to_thread(_trees, view.index)
    size, limits = sum(map(len, trees)), for_index(store.limits)
    found = await store.analyse(size, funnel_of, trees, attributes, view.index.schema, limits)
    return {"campaigns": total, "sampled": len(trees) < total, **found}


def _trees(index: Index) -> list[str]:
    trees = []
    for place, id in enumerate(index.sample(MOST_SAMPLED)):
        if place % PAUSE_EVERY == 0:
            time.sleep(PAUSE)
        if (tree := index.tree_json(id)) is not None:  # it may have been removed
            trees.append(tree)
    return trees
