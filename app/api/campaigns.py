"""`/v1/campaigns`: create, list, read, change, activate, pause, archive, delete, preview."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from app.api import campaign_problems as problems
from app.api import responses
from app.api.campaign_shapes import (
    CAMPAIGN,
    CHANGES,
    DRAFT,
    NEW_CAMPAIGNS,
    PAGE,
    PREVIEW,
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
from app.api.responses import JSON, REMOVED, Removed
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.campaign import preview as previews
from campaigns.campaign import service
from campaigns.campaign.service import CampaignFilter

PREFIX = "/v1/campaigns"
READ, WRITE = "campaigns:read", "campaigns:write"

router = APIRouter(prefix=PREFIX, tags=["campaigns"])

NewFields = Annotated[dict[str, Any], Described(NewCampaign), Body(openapi_examples=NEW_CAMPAIGNS)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(CampaignChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=CHANGES),
]


@router.post(
    "",
    summary="Create a campaign",
    status_code=201,
    response_model=Campaign,
    responses=answers(
        DRAFT,
        "ETag",
        "Location",
        "Idempotent-Replayed",
        scope=WRITE,
        status=201,
        body=True,
        errors=problems.CREATE,
    ),
)
async def create_campaign(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Creates a draft. It serves once it is activated."""
    return await create_once(store, caller, key, fields, service.create, PREFIX, lambda c: c.id)


@router.get(
    "",
    summary="List campaigns",
    response_model=CampaignPage,
    responses=answers(PAGE, scope=READ, errors=problems.LIST),
)
async def list_campaigns(
    _: Reader, store: CurrentStore, asked: Annotated[CampaignListing, Query()]
) -> Response:
    """Campaigns in the order in which they were created. Following `next_cursor` shows each
    campaign that is there all the while exactly once, whatever comes and goes meanwhile. `text` is
    looked for in the name, the external id and the targeting."""
    filters = CampaignFilter(asked.status, asked.advertiser_id, asked.text)
    return responses.page(await service.page(store, filters, asked.limit, asked.cursor))


@router.post(
    "/preview",
    summary="Preview a new campaign",
    response_model=Preview,
    responses=answers(PREVIEW, scope=READ, body=True, errors=problems.PREVIEW_NEW),
)
async def preview_campaign(_: Reader, store: CurrentStore, fields: NewFields) -> Response:
    """Says what creating the campaign would come to, and writes nothing: its normal form, what is
    probably not meant, the campaigns with the same targeting, and what it will cost to match."""
    return _preview(await previews.preview_new(store, fields))


@router.get(
    "/{id:int}",
    summary="Read a campaign",
    response_model=Campaign,
    responses=answers(CAMPAIGN, "ETag", scope=READ, errors=problems.MISSING),
)
async def read_campaign(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """A campaign, with its version as the ETag."""
    return responses.one(await service.get(store, id))


@router.patch(
    "/{id:int}",
    summary="Change a campaign",
    response_model=Campaign,
    responses=answers(CAMPAIGN, "ETag", scope=WRITE, body=True, errors=problems.PATCH),
)
async def change_campaign(
    caller: Writer,
    store: CurrentStore,
    id: PathId,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """A JSON merge patch (RFC 7396). What changes nothing is not written: the answer then has the
    version and the rev that there were."""
    return responses.one(await service.patch(store, caller.actor, id, fields, version))


@router.delete(
    "/{id:int}",
    summary="Delete a campaign",
    response_model=Removed,
    responses=answers(REMOVED, scope=WRITE, errors=problems.DELETE),
)
async def delete_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: RequiredVersion
) -> Response:
    """Removes a campaign that is not active, and answers the rev of that. Its id is never given
    again."""
    return responses.removed(await service.delete(store, caller.actor, id, version))


@router.post(
    "/{id:int}/activate",
    summary="Activate a campaign",
    response_model=Campaign,
    responses=answers(CAMPAIGN, "ETag", scope=WRITE, errors=problems.ACTIVATE),
)
async def activate_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Lets a draft or a paused campaign serve, between `starts_at` and `ends_at`."""
    return responses.one(await service.activate(store, caller.actor, id, version))


@router.post(
    "/{id:int}/pause",
    summary="Pause a campaign",
    response_model=Campaign,
    responses=answers(CAMPAIGN | {"status": "paused"}, "ETag", scope=WRITE, errors=problems.PAUSE),
)
async def pause_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes an active campaign out, until it is activated again."""
    return responses.one(await service.pause(store, caller.actor, id, version))


@router.post(
    "/{id:int}/archive",
    summary="Archive a campaign",
    response_model=Campaign,
    responses=answers(
        CAMPAIGN | {"status": "archived"}, "ETag", scope=WRITE, errors=problems.ARCHIVE
    ),
)
async def archive_campaign(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes a campaign out for ever. It stays readable, and changes no more."""
    return responses.one(await service.archive(store, caller.actor, id, version))


@router.post(
    "/{id:int}/preview",
    summary="Preview a change of a campaign",
    response_model=Preview,
    responses=answers(PREVIEW, scope=READ, body=True, errors=problems.PREVIEW_CHANGE),
)
async def preview_change(
    _: Reader, store: CurrentStore, id: PathId, fields: ChangedFields
) -> Response:
    """Says what a patch would come to, and writes nothing; `{}` looks at the campaign as it is."""
    return _preview(await previews.preview_change(store, id, fields))


def _preview(preview: previews.Preview) -> Response:
    understood = preview.understanding
    content = {
        "campaign": preview.campaign,
        "changes": preview.changes,
        # The graph goes out as it is: reading it back could only change it.
        "normal_form": {"text": understood.text, "graph": orjson.Fragment(understood.graph)},
        "predicates": understood.predicates,
        "attributes": understood.targeting.attribute_names,
        "cost": understood.cost,
        "same_targeting": preview.same_targeting,
        "warnings": [
            {"code": warning.code, "message": warning.message} for warning in preview.warnings
        ],
    }
    return Response(orjson.dumps(content), media_type=JSON)
