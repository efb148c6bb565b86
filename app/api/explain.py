"""`/v1/explain`: why a campaign matched a request or did not; and for all campaigns, which
attributes keep them out.

A campaign is explained as it is in the database now. The built-in attributes may be sent here, to
ask about another hour.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field

from app.api.fields import Id
from app.errors.http_errors import Invalid, NotReady
from app.errors.problems import item
from app.match.built_ins import built_ins
from app.match.request import refusal_of
from app.middleware.scopes import Reader
from app.openapi.responses import answers
from app.state import CurrentState
from campaigns.advertiser import service as advertisers
from campaigns.advertiser.model import Advertiser
from campaigns.campaign import service as campaigns
from campaigns.campaign.model import Campaign
from campaigns.campaign.statuses import ACTIVE
from campaigns.errors import NotFound
from campaigns.feed.view import View
from index import EventError, Limits
from index.event import Event, check_event
from index.explain import explain
from index.language import Schema
from index.language.json_form import from_json
from index.obstacles import obstacles_to

router = APIRouter(prefix="/v1/explain", tags=["match"])

MOST_SAMPLED = 2000
PAUSE_EVERY, PAUSE = 10, 0.0005
"""The thread of a funnel pauses after every ten campaigns, so that the event loop has its turn."""


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


EXAMPLE: dict[str, Any] = {
    "campaign_id": 7,
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
}


ASKED: dict[str, Any] = {
    "one campaign": {"value": {"campaign_id": 7, "attributes": {"country": "FR"}}},
    "the funnel": {"value": {"attributes": {"country": "FR"}}},
}
Sent = Annotated[ExplainIn, Body(openapi_examples=ASKED)]


@router.post(
    "",
    summary="Explain why a campaign matches or not",
    responses=answers(
        EXAMPLE,
        scope="campaigns:read",
        body=True,
        errors={
            "no_such_campaign": NotFound("campaign", 7),
            "wrong_type": Invalid(
                "The attributes are not valid.",
                item("/attributes/age", "type.mismatch", "expected an int, got a string"),
            ),
        },
    ),
)
async def explain_match(_: Reader, sent: Sent, state: CurrentState) -> Explained:
    """For one campaign: its targeting as written with the truth value of every part, the values
    that decided, and a smallest set of predicates that keep it out; or why it is not eligible.
    Without a `campaign_id`: how many campaigns are kept out by one attribute alone, by which one,
    and how many by several."""
    view = state["feed"].current
    if view is None:
        raise NotReady(*state["loading"].progress)
    now = time.time()
    if sent.campaign_id is None:
        attributes = {**built_ins(now), **sent.attributes}
        _event(attributes, view.index.schema)
        funnel = await asyncio.to_thread(_funnel, view, attributes)
        return Explained(
            campaign_id=None, matched=None, reasons=[], tree=None, in_the_way=None, funnel=funnel
        )
    store = state["store"]
    campaign = await campaigns.get(store, sent.campaign_id)
    owner = await advertisers.get(store, campaign.advertiser_id)
    schema = (await store.catalogue()).schema
    event = _event({**built_ins(now), **sent.attributes}, schema)
    return await asyncio.to_thread(
        _explained, campaign, owner, sent.exclude, event, schema, store.limits, now
    )


def _event(attributes: dict[str, Any], schema: Schema) -> Event:
    try:
        return check_event(attributes, schema)[0]
    except EventError as error:
        raise refusal_of(error, "") from None


def _explained(
    campaign: Campaign,
    owner: Advertiser,
    excluded: ExcludedIn,
    event: Event,
    schema: Schema,
    limits: Limits,
    now: float,
) -> Explained:
    tree = from_json(campaign.tree, schema, limits)
    explanation = explain(tree, event)
    reasons = list(_reasons(campaign, owner, excluded, datetime.fromtimestamp(now, UTC)))
    if explanation.value is not True:
        word = "false" if explanation.value is False else "unknown"
        reasons.append(Reason(code="targeting", detail=f"its targeting is {word}"))
    return Explained(
        campaign_id=campaign.id,
        matched=not reasons,
        reasons=reasons,
        tree=explanation.to_dict(),
        in_the_way=obstacles_to(tree, event).to_dict(),
        funnel=None,
    )


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


def _funnel(view: View, attributes: dict[str, Any]) -> dict[str, Any]:
    """Over all campaigns in the index, or over a sample of them (`sampled`)."""
    ids = list(view.index)
    sampled = random.sample(ids, MOST_SAMPLED) if len(ids) > MOST_SAMPLED else ids
    found = view.index.funnel(_with_pauses(sampled), attributes).to_dict()
    return {"campaigns": len(ids), "sampled": len(sampled) < len(ids), **found}


def _with_pauses(ids: list[int]) -> Iterator[int]:
    for n, id in enumerate(ids):
        if n % PAUSE_EVERY == 0:
            time.sleep(PAUSE)
        yield id
