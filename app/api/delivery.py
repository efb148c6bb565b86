"""What becomes of the live traffic: the delivery of campaigns, and the last sampled requests.

`app/observability/delivery` samples; here it is read. Nothing of it is personal data: counts and
predicates of campaigns, and attributes that the impression log may have as well.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.fields import Id, Moment, PathId
from app.middleware.scopes import Reader
from app.observability.status import REQUESTS
from app.openapi.responses import WRONG_ID, answers, wrong_parameter
from app.state import CurrentState, CurrentStore, State
from app.workers.peers import ask_all
from campaigns.delivery import service
from campaigns.delivery.model import HOUR, REASONS, totals
from campaigns.errors import NotFound
from campaigns.timestamps import written

READ = "campaigns:read"
ASK_SECONDS = 2.0
MOST_HOURS = 24 * 14
MOST_CAMPAIGNS = 200

router = APIRouter(tags=["delivery"])


class Miss(BaseModel):
    """Why the campaign was not in an answer."""

    code: str = Field(description="; ".join(f"`{code}`: {says}" for code, says in REASONS.items()))
    predicate: str | None = Field(description="the first predicate that was not true")
    count: int


class Totals(BaseModel):
    """Sampled requests."""

    considered: int = Field(description="sampled while the campaign was in the index")
    matched: int = Field(description="those that it matched")
    answered: int = Field(description="those that had it in their answer")
    outranked: int = Field(description="of the explained ones: it matched, and others were better")
    explained: int = Field(description="misses of which the reason was looked up, at random")
    reasons: list[Miss] = Field(description="the first reason of each, the most frequent first")


class Hour(Totals):
    """One hour."""

    hour: Moment = Field(description="its beginning")


class DeliveryState(BaseModel):
    """Why a campaign delivers or not."""

    code: str = Field(
        description="draft, paused, archived, scheduled, ended, advertiser_paused, never_matches, "
        "no_traffic, unmatched, outranked, live"
    )
    detail: str


class Delivery(Totals):
    """What became of sampled requests, for one campaign."""

    campaign_id: int
    state: DeliveryState
    since: Moment
    counted: bool = Field(
        description="false: nothing is counted for it. With more campaigns than "
        "COPSE_DELIVERY_CAMPAIGNS only some of them are"
    )
    hours: list[Hour] = Field(description="the hours with sampled requests, the oldest first")


class Summary(BaseModel):
    """The state of a campaign, and its counts."""

    campaign_id: int
    state: DeliveryState
    hour: Totals = Field(description="this hour and the one before it")
    day: Totals = Field(description="the last 24 hours")


class Summaries(BaseModel):
    """The campaigns that exist, by id."""

    items: list[Summary]


class Asked(BaseModel):
    """Which campaigns."""

    model_config = ConfigDict(extra="forbid")

    campaign_id: list[Id] = Field(default=[], max_length=MOST_CAMPAIGNS, description="repeatable")


class SampledRequest(BaseModel):
    """A request that was sampled from the live traffic."""

    at: Moment
    route: str
    attributes: dict[str, Any] = Field(description="those that the impression log may have too")


class SampledRequests(BaseModel):
    """The last sampled requests of all workers, the newest first."""

    items: list[SampledRequest]


_TOTALS: dict[str, Any] = {
    "considered": 3600,
    "matched": 720,
    "answered": 650,
    "outranked": 3,
    "explained": 120,
    "reasons": [{"code": "targeting", "predicate": "country in ('US', 'CA')", "count": 120}],
}
_STATE = {
    "code": "live",
    "detail": "It was in 650 answers of 3,600 sampled requests in the last day.",
}
EXAMPLE: dict[str, Any] = {
    "campaign_id": 1,
    "state": _STATE,
    "since": "2026-11-15T11:00:00Z",
    "counted": True,
    **_TOTALS,
    "hours": [{"hour": "2026-11-16T10:00:00Z", **_TOTALS}],
}
SUMMARIES = {"items": [{"campaign_id": 1, "state": _STATE, "hour": _TOTALS, "day": _TOTALS}]}
SAMPLED = {
    "items": [
        {
            "at": "2026-11-16T10:00:00.012Z",
            "route": "match",
            "attributes": {"country": "US", "device.type": "phone"},
        }
    ]
}
WRONG_LIMIT = wrong_parameter("limit", "less_than_equal", "Input should be at most 200")
WRONG_HOURS = wrong_parameter("hours", "greater_than_equal", "Input should be at least 1")


@router.get(
    "/v1/campaigns/{id:int}/delivery",
    summary="What became of sampled requests, and why the campaign missed them",
    response_model=Delivery,
    responses=answers(
        EXAMPLE,
        scope=READ,
        errors={
            "missing": NotFound("campaign", 1),
            "wrong_id": WRONG_ID,
            "wrong_hours": WRONG_HOURS,
        },
    ),
)
async def read_delivery(
    _: Reader,
    store: CurrentStore,
    id: PathId,
    hours: Annotated[
        int, Query(ge=1, le=MOST_HOURS, description="how far back, this hour included")
    ] = 24,
) -> Response:
    """Requests are sampled evenly in time, in every worker. Of each sampled request it is counted
    which campaigns matched and which were in the answer; for some of the others, chosen at random,
    the first reason is looked up. The counts of all workers are added up in the database and kept
    for COPSE_KEEP_DELIVERY_HOURS."""
    found = await service.read(store, id, hours)
    since = datetime.fromtimestamp(found.since * HOUR, UTC)
    summed = totals(found.hours)
    return responses.json(
        {
            "campaign_id": id,
            "state": {"code": found.state.code, "detail": found.state.detail},
            "since": written(since),
            "counted": bool(summed["considered"]),
            **summed,
            "hours": [each.to_dict() for each in found.hours],
        }
    )


@router.get(
    "/v1/delivery",
    summary="The state and the counts of several campaigns",
    response_model=Summaries,
    responses=answers(
        SUMMARIES,
        scope=READ,
        errors={"wrong_campaign": wrong_parameter("campaign_id/0", "int_parsing", "not an id")},
    ),
)
async def list_delivery(
    _: Reader, store: CurrentStore, asked: Annotated[Asked, Query()]
) -> Response:
    """For each campaign: why it delivers or not, in one word and a sentence, and the sampled
    requests of the last hour and day. Reasons are not looked up here."""
    found = await service.summaries(store, asked.campaign_id)
    return responses.json(
        {
            "items": [
                {
                    "campaign_id": each.campaign_id,
                    "state": {"code": each.state.code, "detail": each.state.detail},
                    "hour": each.hour,
                    "day": each.day,
                }
                for each in found
            ]
        }
    )


@router.get(
    "/v1/requests",
    summary="The last sampled requests",
    response_model=SampledRequests,
    responses=answers(
        SAMPLED,
        scope=READ,
        store=False,
        errors={"wrong_limit": WRONG_LIMIT},
    ),
)
async def list_requests(
    _: Reader,
    state: CurrentState,
    limit: Annotated[int, Query(ge=1, le=200, description="the most requests to return")] = 50,
) -> Response:
    """The last requests that were sampled by any worker. They are kept in memory only, without
    attributes that may identify a person, and without those that asked not to be logged."""
    return responses.json({"items": (await sampled_requests(state))[:limit]})


async def sampled_requests(state: State) -> list[dict[str, Any]]:
    """The last sampled requests of all workers, the newest first."""
    heard = (await ask_all(state["run_directory"], REQUESTS, ASK_SECONDS)).heard.values()
    found = sorted((each for some in heard for each in some), key=lambda each: -each["at"])
    return [{**each, "at": written(datetime.fromtimestamp(each["at"], UTC))} for each in found]
