"""`/v1/campaigns`: create, list, read, change, activate, pause, archive, delete, preview."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from app.api import campaign_errors as errors
from app.api import responses
from app.api.campaign_models import (
    CAMPAIGN,
    CHANGES,
    NEW_CAMPAIGNS,
    NEW_DRAFT,
    PAGE,
    PREVIEW,
    ActivatedCampaign,
    Campaign,
    CampaignChanges,
    CampaignListing,
    CampaignPage,
    NewCampaign,
    Preview,
)
from app.api.etags import RequiredVersion, SeenVersion
from app.api.fields import PathId
from app.api.idempotency import IdempotencyKey, create_once
from app.api.resource import LIST_ERRORS, READ, Resource
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.campaign import model, service
from campaigns.campaign import preview as previews
from campaigns.campaign.service import CampaignFilter
from campaigns.campaign.statuses import ACTIVE, ARCHIVED, DRAFT, PAUSED

PREFIX = "/v1/campaigns"
CAMPAIGNS = Resource(model.Campaign.kind, Campaign, CAMPAIGN)

router = APIRouter(prefix=PREFIX, tags=["campaigns"])

NewFields = Annotated[dict[str, Any], Described(NewCampaign), Body(openapi_examples=NEW_CAMPAIGNS)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(CampaignChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=CHANGES),
]


@router.post("", summary="Create a campaign", **CAMPAIGNS.create(NEW_DRAFT, errors.CREATE))
async def create_campaign(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Creates a draft. It serves once it is activated."""
    return await create_once(store, caller, key, fields, service.create, PREFIX, lambda c: c.id)


@router.get(
    "",
    summary="List campaigns",
    response_model=CampaignPage,
    responses=answers(PAGE, scope=READ, errors=LIST_ERRORS),
)
async def list_campaigns(
    _: Reader, store: CurrentStore, asked: Annotated[CampaignListing, Query()]
) -> Response:
    """Lists campaigns in the order of creation. Following `next_cursor` returns each campaign that
    exists throughout exactly once, whatever is created or deleted meanwhile. `text` is searched in
    the name, the external id and the targeting."""
    filters = CampaignFilter(asked.status, asked.advertiser_id, asked.external_id, asked.text)
    return responses.page(await service.page(store, filters, asked.limit, asked.cursor))


@router.post(
    "/preview",
    summary="Preview a new campaign",
    response_model=Preview,
    responses=answers(PREVIEW, scope=READ, body=True, errors=errors.NEW),
)
async def preview_campaign(_: Reader, store: CurrentStore, fields: NewFields) -> Response:
    """Shows what creating the campaign would do, and writes nothing: its normal form, warnings, the
    campaigns with the same targeting, and the cost of matching it."""
    return _preview(await previews.preview_new(store, fields))


@router.get("/{id:int}", summary="Read a campaign", **CAMPAIGNS.read())
async def read_campaign(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """Returns a campaign, with its version as the ETag."""
    return responses.one(await service.get(store, id))


@router.patch("/{id:int}", summary="Change a campaign", **CAMPAIGNS.change(errors.CHANGE))
async def change_campaign(
    caller: Writer,
    store: CurrentStore,
    id: PathId,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """Applies a JSON merge patch (RFC 7396). A patch that changes nothing is not written: the
    version and the rev stay the same."""
    return responses.one(await service.patch(store, caller.actor, id, fields, version))


@router.delete("/{id:int}", summary="Delete a campaign", **CAMPAIGNS.delete(errors.DELETE))
async def delete_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: RequiredVersion
) -> Response:
    """Removes a campaign that is not active, and returns the rev of the removal. Its id is never
    used again."""
    return responses.removed(await service.delete(store, caller.actor, id, version))


@router.post(
    "/{id:int}/activate",
    summary="Activate a campaign",
    **CAMPAIGNS.move(ACTIVE, ARCHIVED, ActivatedCampaign, warnings=[]),
)
async def activate_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Lets a draft or a paused campaign serve, between `starts_at` and `ends_at`. Warns if it has
    ended already."""
    campaign = await service.activate(store, caller.actor, id, version)
    warnings = model.flight_warnings(campaign, store.now())
    return responses.one(campaign, warnings=responses.warnings(warnings))


@router.post("/{id:int}/pause", summary="Pause a campaign", **CAMPAIGNS.move(PAUSED, refused=DRAFT))
async def pause_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes a campaign out of the index until it is activated again."""
    return responses.one(await service.pause(store, caller.actor, id, version))


@router.post(
    "/{id:int}/archive",
    summary="Archive a campaign",
    **CAMPAIGNS.move(ARCHIVED, refused=ARCHIVED),
)
async def archive_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes a campaign out of the index for good. It stays readable, and cannot change."""
    return responses.one(await service.archive(store, caller.actor, id, version))


@router.post(
    "/{id:int}/preview",
    summary="Preview a change of a campaign",
    response_model=Preview,
    responses=answers(
        PREVIEW, scope=READ, body=True, errors=errors.PREVIEW_CHANGE | CAMPAIGNS.missing
    ),
)
async def preview_change(
    _: Reader, store: CurrentStore, id: PathId, fields: ChangedFields
) -> Response:
    """Shows what a patch would do, and writes nothing; `{}` previews the campaign as it is."""
    return _preview(await previews.preview_change(store, id, fields))


def _preview(preview: previews.Preview) -> Response:
    understood = preview.understanding
    content = {
        "campaign": preview.campaign,
        "changes": preview.changes,
        # The graph is JSON already: parsing it again could only change it.
        "normal_form": {"text": understood.text, "graph": orjson.Fragment(understood.graph)},
        "predicates": understood.predicates,
        "attributes": understood.targeting.attribute_names,
        "cost": understood.cost,
        "same_targeting": preview.same_targeting,
        "warnings": responses.warnings(preview.warnings),
    }
    return responses.json(content)
