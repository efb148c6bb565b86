"""The match routes as the OpenAPI page shows them, and for whoever comes through FastAPI.

`front_door.py` answers them before FastAPI is asked; what is here leads to the same functions.
"""

from time import perf_counter
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from app.errors.http_errors import Behind, NotReady, Overdue, Overloaded
from app.errors.problems import Problem
from app.match import batch, openrtb, single
from app.match.batch import MAX_REQUESTS
from app.match.context import Handler, Handling
from app.match.hot_path import HotPath
from app.match.request import DEFAULT_LIMIT, MAX_EXCLUDED, MAX_LIMIT, MAX_TMAX_MS, invalid
from app.middleware.scopes import needs
from app.openapi.descriptions import Described, answers
from app.openrtb import MalformedBidRequest
from app.state import CurrentState, State

router = APIRouter(prefix="/v1", tags=["match"])

Matcher = Annotated[object, needs("match")]


class ExcludeIn(BaseModel):
    """What must not be in the answer."""

    campaigns: list[int] = Field(default=[], max_length=MAX_EXCLUDED)
    advertisers: list[int] = Field(default=[], max_length=MAX_EXCLUDED)


class MatchIn(BaseModel):
    """A request: what is known of the user, the page, the slot."""

    attributes: dict[str, Any] = Field(
        description="by the catalogue; unknown ones are ignored and counted, null is missing"
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    exclude: ExcludeIn = ExcludeIn()
    min_rev: int = Field(default=0, ge=0, description="answer from this rev or a later one")
    tmax_ms: float | None = Field(
        default=None, gt=0, le=MAX_TMAX_MS, description="how long you wait for the answer"
    )
    log: bool = Field(default=True, description="false: leave it out of the impression log")


class MatchOut(BaseModel):
    """A campaign that wants the request."""

    campaign_id: int
    priority: int
    bid_micros: int


class MatchesOut(BaseModel):
    """The campaigns that want it, best first."""

    matches: list[MatchOut]
    total: int = Field(description="how many there are in all")
    epoch: str
    rev: int = Field(description="everything up to this rev was looked at")


class BatchIn(BaseModel):
    """Several requests."""

    requests: list[MatchIn] = Field(min_length=1, max_length=MAX_REQUESTS)


class BatchOut(BaseModel):
    """An answer or a problem for each, in their order; all answers are of one rev."""

    responses: list[MatchesOut | Problem]


ANSWER: dict[str, Any] = {
    "matches": [{"campaign_id": 7, "priority": 5, "bid_micros": 1200000}],
    "total": 1,
    "epoch": "5f0c7d1e9a3b2c48",
    "rev": 42,
}
REQUEST: dict[str, Any] = {
    "attributes": {"country": "US", "device.type": "phone", "segments": [12, 99]},
    "limit": 10,
}
_ERRORS = {
    "wrong_type": invalid("/attributes/age", "type.mismatch", "expected an int, got a string"),
    "behind": Behind("5f0c7d1e9a3b2c48", 41, 42),
    "overdue": Overdue(0.021, 20),
    "overloaded": Overloaded(0.25),
}


class BidIn(BaseModel):
    """An OpenRTB BidRequest; docs/openrtb.md says what is read of it."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(min_length=1)
    imp: list[dict[str, Any]] = Field(min_length=1, max_length=100)


class ImpMatches(BaseModel):
    """The campaigns that want an imp, best first."""

    id: str
    matches: list[MatchOut]
    total: int


class BidMatches(BaseModel):
    """The imps of a bid request."""

    id: str
    imps: list[ImpMatches]
    epoch: str
    rev: int


BID: dict[str, Any] = {
    "id": "80ce30c53c16e6ede735f123ef6e32361bfc7b22",
    "imp": [{"id": "1", "banner": {"w": 300, "h": 250}, "bidfloor": 0.5}],
    "site": {"domain": "daily.news"},
    "device": {"devicetype": 4, "geo": {"country": "USA"}},
}
BID_ANSWER: dict[str, Any] = {
    "id": BID["id"],
    "imps": [{"id": "1", "matches": ANSWER["matches"], "total": 1}],
    "epoch": ANSWER["epoch"],
    "rev": ANSWER["rev"],
}
NOT_A_BID = openrtb.MalformedBid(
    MalformedBidRequest("/imp", "openrtb.imp", "a bid request has at least one imp")
)

SentBid = Annotated[
    dict[str, Any], Described(BidIn), Body(openapi_examples={"a banner": {"value": BID}})
]
Sent = Annotated[
    dict[str, Any],
    Described(MatchIn),
    Body(openapi_examples={"a request": {"value": REQUEST}}),
]
SentBatch = Annotated[
    dict[str, Any],
    Described(BatchIn),
    Body(openapi_examples={"a batch": {"value": {"requests": [REQUEST]}}}),
]


@router.post(
    "/match",
    summary="Which campaigns want this request",
    response_model=MatchesOut,
    responses=answers(ANSWER, scope="match", body=True, store=False, errors=_ERRORS),
)
async def match(_: Matcher, sent: Sent, request: Request, state: CurrentState) -> Response:
    """Active campaigns of active advertisers, in flight, not excluded, whose targeting is true:
    higher priority first, then the higher bid, then the lower id."""
    return await _through(single.answer, request, state)


@router.post(
    "/match/batch",
    summary="Several requests at once",
    response_model=BatchOut,
    responses=answers(
        {"responses": [ANSWER]}, scope="match", body=True, store=False, errors=_ERRORS
    ),
)
async def match_batch(
    _: Matcher, sent: SentBatch, request: Request, state: CurrentState
) -> Response:
    """Up to a hundred requests, answered from one rev; a bad one gets a problem of its own."""
    return await _through(batch.answer, request, state)


@router.post(
    "/openrtb",
    summary="An OpenRTB bid request",
    response_model=BidMatches,
    responses=answers(
        BID_ANSWER,
        scope="match",
        body=True,
        store=False,
        errors={"no_bid_request": NOT_A_BID},
    )
    | {204: {"description": "No campaign wants any of its imps, or there is no time left."}},
)
async def match_openrtb(
    _: Matcher, sent: SentBid, request: Request, state: CurrentState
) -> Response:
    """OpenRTB 2.6 and 2.5: the matches of each imp. Floors, blocked categories and advertisers and
    private auctions are enforced; without consent no user attribute is used."""
    return await _through(openrtb.answer, request, state)


async def _through(handler: Handler, request: Request, state: State) -> Response:
    follower = state["feed"].follower
    view = follower.current
    if view is None:
        raise NotReady(*state["loading"].so_far)
    handling = Handling(perf_counter(), view, follower, state["watching"], HotPath())
    answer = await handler(handling, await request.body())
    if answer is None:
        return Response(status_code=204)
    return Response(answer, media_type="application/json")
