"""The shapes of campaigns on the OpenAPI page, and their examples. The rules are the store's."""

from typing import Any, Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field

from app.api.expressions import ExpressionWarning, NormalForm
from app.api.fields import (
    TEXT_FILTER,
    Id,
    Label,
    Listing,
    Moment,
    Name,
    NextCursor,
    Rev,
    Version,
    without_defaults,
)
from index.score import MAX_BID_MICROS, MAX_PRIORITY

Status = Literal["draft", "active", "paused", "archived"]


class _CampaignFields(BaseModel):
    external_id: Name | None = Field(
        default=None, description="your own id; no two campaigns share one"
    )
    starts_at: Moment | None = Field(default=None, description="it serves from this moment on")
    ends_at: Moment | None = Field(default=None, description="and before this one")
    priority: int | None = Field(default=0, ge=0, le=MAX_PRIORITY, description="higher goes first")
    bid_micros: int | None = Field(
        default=0, ge=0, le=MAX_BID_MICROS, description="of equal priority the higher goes first"
    )
    categories: list[Label] | None = Field(default=[], max_length=100)
    targeting: str | None = Field(
        default="true", description="an expression over the attributes of the catalogue"
    )


class NewCampaign(_CampaignFields):
    """A campaign to be; it is created as a draft."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    advertiser_id: Id = Field(description="an advertiser that exists")


class CampaignChanges(_CampaignFields):
    """A merge patch (RFC 7396): what is left out stays as it is, a null sets a field back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_defaults)

    name: Name = Field(default="")
    advertiser_id: Id = Field(default=0, description="an advertiser that exists")


class Campaign(BaseModel):
    """A campaign."""

    id: Id
    external_id: str | None
    advertiser_id: Id
    name: str
    status: Status
    starts_at: Moment | None
    ends_at: Moment | None
    priority: int
    bid_micros: int
    categories: list[str]
    targeting: str
    version: Version
    rev: Rev
    created_at: Moment
    updated_at: Moment


class CampaignPage(BaseModel):
    """Campaigns in the order in which they were created."""

    items: list[Campaign]
    next_cursor: NextCursor


class CampaignListing(Listing):
    """Which campaigns to list."""

    status: Status | None = None
    advertiser_id: Id | None = None
    text: str | None = TEXT_FILTER


class PreviewedCampaign(Campaign):
    """A campaign as it would be; a new one has no id, version, rev and times yet."""

    id: Id | None  # type: ignore[assignment]
    version: Version | None  # type: ignore[assignment]
    rev: Rev | None  # type: ignore[assignment]
    created_at: Moment | None  # type: ignore[assignment]
    updated_at: Moment | None  # type: ignore[assignment]


class Cost(BaseModel):
    """How an index that has seen no traffic would look for the campaign."""

    way: str = Field(description="`always` by every request, `never` by none, else by `access`")
    access: list[str] = Field(
        description="a request that makes one of these true has the rest checked: the fewer and "
        "the rarer, the cheaper"
    )
    literals: int = Field(description="the most that there is to check")


class Preview(BaseModel):
    """What would be. Nothing is written."""

    campaign: PreviewedCampaign
    changes: list[str] = Field(description="the fields that would change")
    normal_form: NormalForm
    predicates: int = Field(description="how many predicates were written")
    attributes: list[str] = Field(description="the attributes that the targeting speaks of")
    cost: Cost
    same_targeting: list[int] = Field(description="campaigns with the same targeting, at most 10")
    warnings: list[ExpressionWarning]


CAMPAIGN: dict[str, Any] = {
    "id": 7,
    "external_id": "spring-24",
    "advertiser_id": 3,
    "name": "Spring",
    "status": "active",
    "starts_at": "2026-11-20T00:00:00Z",
    "ends_at": None,
    "priority": 5,
    "bid_micros": 1_200_000,
    "categories": ["IAB2"],
    "targeting": "country in ('US', 'CA') and device.type = 'phone'",
    "version": 4,
    "rev": 42,
    "created_at": "2026-11-16T09:30:00Z",
    "updated_at": "2026-11-16T10:00:00Z",
}
DRAFT = CAMPAIGN | {
    "status": "draft",
    "version": 1,
    "rev": 39,
    "updated_at": CAMPAIGN["created_at"],
}
PAGE = {"items": [CAMPAIGN], "next_cursor": "WzcsImRjNDZjNGJhMTg2MyJd"}

_WRITTEN = (
    "external_id",
    "advertiser_id",
    "name",
    "starts_at",
    "ends_at",
    "priority",
    "bid_micros",
    "categories",
    "targeting",
)

NEW_CAMPAIGNS: dict[str, Example] = {
    "everything": {
        "summary": "Every field",
        "value": {name: CAMPAIGN[name] for name in _WRITTEN},
    },
    "least": {
        "summary": "As little as there must be; it matches everything",
        "value": {"advertiser_id": 3, "name": "House ads"},
    },
}

CHANGES: dict[str, Example] = {
    "bid": {"summary": "Another bid", "value": {"bid_micros": 1_500_000}},
    "open_end": {
        "summary": "Other targeting, and no end",
        "value": {"targeting": "country = 'US'", "ends_at": None},
    },
}

PREVIEW: dict[str, Any] = {
    "campaign": CAMPAIGN | {"bid_micros": 1_500_000},
    "changes": ["bid_micros"],
    "normal_form": {
        "text": "country in ('CA', 'US') and device.type = 'phone'",
        "graph": [
            1,
            [["in", "country", "CA", "US"], ["in", "device.type", "phone"], ["and", 0, 1]],
        ],
    },
    "predicates": 2,
    "attributes": ["country", "device.type"],
    "cost": {"way": "conjunction", "access": ["device.type = 'phone'"], "literals": 2},
    "same_targeting": [12],
    "warnings": [{"code": "same_targeting", "message": "same targeting as campaign 12"}],
}
