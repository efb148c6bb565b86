"""The models of the campaign routes in the OpenAPI document, and their examples."""

from typing import Any, Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field, create_model

from app.api.delivery import SAMPLED, SampledRequest
from app.api.expressions import Cost, NormalForm
from app.api.expressions import ExpressionWarning as WarningModel
from app.api.fields import TEXT_FILTER, Id, Listing
from app.api.models import changes_model, new_example, new_model, page_model, record_model
from campaigns.campaign import model
from campaigns.campaign.analysis import described
from campaigns.campaign.preview import UNSAVED
from campaigns.campaign.service import CampaignFilter
from campaigns.campaign.statuses import DRAFT, CampaignStatus
from campaigns.fields import MAX_NAME
from index.language import ExpressionWarning

NewCampaign = new_model(model.Campaign, "NewCampaign", "A new campaign. It starts as a draft.")
CampaignChanges = changes_model(model.Campaign, "CampaignChanges")
Campaign = record_model(model.Campaign, "Campaign", "A campaign.")
ActivatedCampaign = create_model(
    "ActivatedCampaign",
    __base__=Campaign,
    __doc__="A campaign that has been activated.",
    warnings=(list[WarningModel], Field(description="why it will not serve all the same")),
)
SavedCampaign = create_model(
    "SavedCampaign",
    __base__=Campaign,
    __doc__="A campaign that has been created or changed.",
    warnings=(list[WarningModel], Field(description="about its targeting, if it was sent")),
)
CampaignPage = page_model(Campaign, "CampaignPage", "Campaigns in the order of creation.")
PreviewedCampaign = record_model(
    model.Campaign,
    "PreviewedCampaign",
    "A campaign as it would be; a new one has no id, version, rev and times yet.",
    unsaved=UNSAVED,
)


class _Filters(BaseModel):
    status: CampaignStatus | None = None
    advertiser_id: Id | None = None
    external_id: str | None = Field(
        default=None, max_length=MAX_NAME, description="the campaign with this external id, if any"
    )
    text: str | None = TEXT_FILTER

    def filters(self) -> CampaignFilter:
        return CampaignFilter(self.status, self.advertiser_id, self.external_id, self.text)


class CampaignListing(_Filters, Listing):
    """Which campaigns to list."""


class CampaignExport(_Filters):
    """Which campaigns to export."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["csv", "ndjson"] = "csv"


class Comparison(BaseModel):
    """The targeting on the last sampled requests. Floors, exclusions and competitors are not part
    of it."""

    requests: int = Field(description="the number of sampled requests")
    before: int = Field(description="those that match now; 0 for a new campaign")
    after: int = Field(description="those that would match")
    gained: int
    lost: int
    gained_requests: list[SampledRequest] = Field(description="some of them")
    lost_requests: list[SampledRequest] = Field(description="some of them")


class _Preview(BaseModel):
    changes: list[str] = Field(description="the fields that would change")
    normal_form: NormalForm
    predicates: int = Field(description="the number of predicates as written")
    attributes: list[str] = Field(description="the attributes that the targeting uses")
    cost: Cost
    same_targeting: list[int] = Field(description="campaigns with the same targeting, at most 10")
    warnings: list[WarningModel]
    sampled: Comparison


Preview = create_model(
    "Preview",
    __base__=_Preview,
    __doc__="The result of a dry run. Nothing is written.",
    campaign=(PreviewedCampaign, ...),
)

CAMPAIGN = model.Campaign.example()
NEW_DRAFT = CAMPAIGN | {
    "status": DRAFT,
    "version": 1,
    "updated_at": CAMPAIGN["created_at"],
    "warnings": [],
}
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
    "warnings": [
        described(ExpressionWarning("same_targeting", "same targeting as campaign 12")),
        described(
            ExpressionWarning(
                "unlisted_value",
                "country does not have the value 'USA'",
                (12, 17),
                "write 'US'",
                "'US'",
            )
        ),
    ],
    "sampled": {
        "requests": 200,
        "before": 41,
        "after": 42,
        "gained": 1,
        "lost": 0,
        "gained_requests": SAMPLED["items"],
        "lost_requests": [],
    },
}
