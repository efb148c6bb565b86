"""The models of the campaign routes in the OpenAPI document, and their examples."""

from typing import Any

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, create_model

from app.api.expressions import ExpressionWarning, NormalForm
from app.api.fields import TEXT_FILTER, Id, Listing
from app.api.models import changes_model, new_example, new_model, page_model, record_model
from campaigns.campaign import model
from campaigns.campaign.preview import UNSAVED
from campaigns.campaign.statuses import DRAFT, CampaignStatus
from campaigns.fields import MAX_NAME

NewCampaign = new_model(model.Campaign, "NewCampaign", "A new campaign. It starts as a draft.")
CampaignChanges = changes_model(model.Campaign, "CampaignChanges")
Campaign = record_model(model.Campaign, "Campaign", "A campaign.")
ActivatedCampaign = create_model(
    "ActivatedCampaign",
    __base__=Campaign,
    __doc__="A campaign that has been activated.",
    warnings=(list[ExpressionWarning], Field(description="why it will not serve all the same")),
)
CampaignPage = page_model(Campaign, "CampaignPage", "Campaigns in the order of creation.")
PreviewedCampaign = record_model(
    model.Campaign,
    "PreviewedCampaign",
    "A campaign as it would be; a new one has no id, version, rev and times yet.",
    unsaved=UNSAVED,
)


class CampaignListing(Listing):
    """Which campaigns to list."""

    status: CampaignStatus | None = None
    advertiser_id: Id | None = None
    external_id: str | None = Field(
        default=None, max_length=MAX_NAME, description="the campaign with this external id, if any"
    )
    text: str | None = TEXT_FILTER


class Cost(BaseModel):
    """How an index that has seen no traffic would search for the campaign."""

    way: str = Field(
        description="`always`: every request finds it, `never`: none does; otherwise `access` does"
    )
    access: list[str] = Field(
        description="a request that satisfies one of these is checked against the rest: the fewer "
        "and the rarer, the cheaper"
    )
    literals: int = Field(description="the most literals that a request can be checked against")


class _Preview(BaseModel):
    changes: list[str] = Field(description="the fields that would change")
    normal_form: NormalForm
    predicates: int = Field(description="the number of predicates as written")
    attributes: list[str] = Field(description="the attributes that the targeting uses")
    cost: Cost
    same_targeting: list[int] = Field(description="campaigns with the same targeting, at most 10")
    warnings: list[ExpressionWarning]


Preview = create_model(
    "Preview",
    __base__=_Preview,
    __doc__="The result of a dry run. Nothing is written.",
    campaign=(PreviewedCampaign, ...),
)

CAMPAIGN = model.Campaign.example()
NEW_DRAFT = CAMPAIGN | {"status": DRAFT, "version": 1, "updated_at": CAMPAIGN["created_at"]}
PAGE = {"items": [CAMPAIGN], "next_cursor": "WzcsImRjNDZjNGJhMTg2MyJd"}

NEW_CAMPAIGNS: dict[str, Example] = {
    "everything": {"summary": "Every field", "value": new_example(model.Campaign)},
    "least": {
        "summary": "Required fields only; the campaign matches every request",
        "value": {"advertiser_id": 1, "name": "House ads"},
    },
}

CHANGES: dict[str, Example] = {
    "bid": {"summary": "Another bid", "value": {"bid_micros": 1_500_000}},
    "open_end": {
        "summary": "Another targeting, and no end",
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
