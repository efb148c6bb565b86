"""The match routes on the OpenAPI page, and for other methods than POST (405).

`router.py` answers a POST before FastAPI sees it, so the functions here are never called: they only
describe.
"""

from typing import Annotated, Any, Literal, NoReturn

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from app.errors.http_errors import Behind, MalformedJson, Overdue, Overloaded
from app.errors.problems import Problem
from app.match import openrtb
from app.match.batch import MAX_REQUESTS
from app.match.request import (
    DEFAULT_LIMIT,
    MAX_EXCLUDED,
    MAX_LIMIT,
    MAX_TMAX_MS,
    invalid,
)
from app.middleware.scopes import needs
from app.openapi.responses import Described, Responses, answers
from app.openrtb import MalformedBidRequest
from app.openrtb.request import MOST_IMPS
from campaigns.campaign.model import BID_UNIT

router = APIRouter(prefix="/v1", tags=["match"])

Matcher = Annotated[object, needs("match")]


NoValue = SkipJsonSchema[None]
"""The member is left out, not null."""


def _optional(schema: dict[str, Any]) -> None:
    schema.pop("default")


class ExcludeIn(BaseModel):
    """Campaigns and advertisers to leave out of the answer."""

    campaigns: list[int] = Field(default=[], max_length=MAX_EXCLUDED)
    advertisers: list[int] = Field(default=[], max_length=MAX_EXCLUDED)


class MatchIn(BaseModel):
    """A request: what is known about the user, the page and the ad slot."""

    attributes: dict[str, Any] = Field(
        description="attributes of the catalogue; null means missing; `strict` says what happens "
        "to unknown ones"
    )
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    total: bool = Field(
        default=False,
        description="true: also count all matching campaigns, which takes much longer",
    )
    exclude: ExcludeIn = ExcludeIn()
    min_rev: int = Field(default=0, ge=0, description="answer from this rev or a later one")
    tmax_ms: Annotated[float, Field(gt=0, le=MAX_TMAX_MS)] | NoValue = Field(
        default=None,
        description="milliseconds that you wait for the answer",
        json_schema_extra=_optional,
    )
    log: bool = Field(default=True, description="false: do not log this request as an impression")
    strict: bool | NoValue = Field(
        default=None,
        json_schema_extra=_optional,
        description="unknown attributes: true refuses them (422), false lists them in `ignored`; "
        "without it they are ignored and counted, unless COPSE_UNKNOWN_ATTRIBUTES says otherwise",
    )
    fields: list[Literal["external_id", "advertiser_id"]] = Field(
        default=[], description="more about each match, read from the database"
    )


class MatchOut(BaseModel):
    """A campaign that matches the request."""

    campaign_id: int
    priority: int
    bid_micros: int = Field(description=BID_UNIT)
    external_id: str | None = Field(
        default=None,
        description="only if `fields` asks for it; null if the campaign has none",
        json_schema_extra=_optional,
    )
    advertiser_id: int | NoValue = Field(
        default=None, description="only if `fields` asks for it", json_schema_extra=_optional
    )


class MatchesOut(BaseModel):
    """The campaigns that match the request, best first."""

    matches: list[MatchOut]
    total: int | None = Field(
        default=None, description="the number of matching campaigns, if the request asks for it"
    )
    degraded: bool | NoValue = Field(
        default=None,
        description="true: an operator gave no result in time, and campaigns that depend on it "
        "may be missing",
        json_schema_extra=_optional,
    )
    epoch: str
    rev: int = Field(description="the answer includes every change up to this rev")
    ignored: list[str] | NoValue = Field(
        default=None,
        description="unknown attributes, if the request has `strict: false`",
        json_schema_extra=_optional,
    )
    hints: list[str] | NoValue = Field(
        default=None, description="what they probably mean", json_schema_extra=_optional
    )


class BatchIn(BaseModel):
    """Several requests."""

    requests: list[MatchIn] = Field(min_length=1, max_length=MAX_REQUESTS)


class BatchOut(BaseModel):
    """An answer or a problem for each request, in order; all answers have the same rev."""

    responses: list[MatchesOut | Problem]


ANSWER: dict[str, Any] = {
    "matches": [{"campaign_id": 1, "priority": 5, "bid_micros": 1200000}],
    "epoch": "5f0c7d1e9a3b2c48",
    "rev": 42,
}
REQUEST: dict[str, Any] = {
    "attributes": {"country": "US", "device.type": "phone", "segments": [12, 99]},
    "limit": 10,
}
_NO_BODY = MalformedJson("Input is a zero-length, empty document", 0)
_ERRORS = {
    "no_body": _NO_BODY,  # the match routes read the body themselves
    "wrong_type": invalid("/attributes/age", "type.mismatch", "expected an int, got a string"),
    "unknown_attribute": invalid(
        "/attributes/contry",
        "attribute.unknown",
        "there is no attribute contry: did you mean country?",
    ),
    "behind": Behind("5f0c7d1e9a3b2c48", 41, 42),
    "overdue": Overdue(0.021, 20),
    "overloaded": Overloaded(0.25),
}


class BidIn(BaseModel):
    """An OpenRTB BidRequest; docs/openrtb.md says which fields are read."""

    model_config = ConfigDict(extra="allow")

    id: Annotated[str, Field(min_length=1)] | int
    imp: list[dict[str, Any]] = Field(min_length=1, max_length=MOST_IMPS)


class BidMatchOut(BaseModel):
    """A campaign that matches an imp, and how."""

    campaign_id: int
    priority: int
    bid_micros: int = Field(description=BID_UNIT)
    currency: str = Field(description="of `bid_micros`")
    format: str | None = Field(description="banner, video, audio or native")
    deal_id: str | None = Field(description="the deal that it is for; null in the open auction")
    advertiser_id: int
    seat: str | None
    adomain: list[str]
    external_id: str | None = Field(
        default=None,
        description="null if the campaign has none; left out if it could not be read in time",
        json_schema_extra=_optional,
    )
    price_micros: int | NoValue = Field(
        default=None, description="the fixed price of the deal", json_schema_extra=_optional
    )


class ImpMatches(BaseModel):
    """The campaigns that match an imp, best first."""

    id: str | int
    matches: list[BidMatchOut]


class BidMatches(BaseModel):
    """The imps of a bid request."""

    id: str | int
    imps: list[ImpMatches]
    degraded: bool | NoValue = Field(
        default=None,
        description="true: an operator gave no result in time",
        json_schema_extra=_optional,
    )
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
    "imps": [
        {
            "id": "1",
            "matches": [
                {
                    "campaign_id": 1,
                    "priority": 5,
                    "bid_micros": 1200000,
                    "currency": "USD",
                    "format": "banner",
                    "deal_id": None,
                    "advertiser_id": 1,
                    "seat": "seat-7",
                    "adomain": ["shop.example"],
                    "external_id": "spring-24",
                }
            ],
        }
    ],
    "epoch": ANSWER["epoch"],
    "rev": ANSWER["rev"],
}


def _not_json(reason: str) -> openrtb.MalformedBid:
    detail = f"the body is not JSON: {reason}"
    return openrtb.MalformedBid(MalformedBidRequest("", "json.malformed", detail))


NOT_A_BID = openrtb.MalformedBid(
    MalformedBidRequest("/imp", "openrtb.imp", "expected a list of at least one imp")
)

_BID_ERRORS = {
    "no_bid_request": NOT_A_BID,
    "not_json": _not_json("unexpected end of data: line 1 column 10 (char 9)"),
    "no_body": _not_json("Input is a zero-length, empty document: line 1 column 1 (char 0)"),
}

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


def _responses(example: dict[str, Any], errors: dict[str, Any]) -> Responses:
    return answers(example, scope="match", body=True, store=False, errors=errors)


@router.post(
    "/match",
    summary="Find the campaigns that match a request",
    response_model=MatchesOut,
    responses=_responses(ANSWER, _ERRORS),
)
async def match(_: Matcher, sent: Sent) -> NoReturn:
    """Active campaigns of active advertisers, in flight, not excluded, whose targeting is true:
    higher priority first, then the higher bid, then the lower id."""
    raise AssertionError


@router.post(
    "/match/batch",
    summary="Match several requests",
    response_model=BatchOut,
    responses=_responses({"responses": [ANSWER]}, _ERRORS),
)
async def match_batch(_: Matcher, sent: SentBatch) -> NoReturn:
    """Up to a hundred requests, answered from one rev; a bad one gets a problem of its own."""
    raise AssertionError


@router.post(
    "/openrtb",
    summary="Match an OpenRTB bid request",
    response_model=BidMatches,
    responses=_responses(BID_ANSWER, _BID_ERRORS)
    | {204: {"description": "No imp has a match, or there is no time left."}},
)
async def match_openrtb(_: Matcher, sent: SentBid) -> NoReturn:
    """OpenRTB 2.6 and 2.5: the matches of each imp. Floors, blocked categories and advertisers,
    deals and seats are enforced. Without consent no user attribute is used. With
    `?format=bidresponse` the answer is a BidResponse."""
    raise AssertionError
