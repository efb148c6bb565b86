"""`/v1/campaigns`: create, list, read, change, activate, pause, archive, delete, preview."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Body, Query
from starlette.responses import Response, StreamingResponse

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
    CampaignExport,
    CampaignListing,
    CampaignPage,
    NewCampaign,
    Preview,
    SavedCampaign,
)
from app.api.delivery import sampled_requests
from app.api.etags import RequiredVersion, SeenVersion
from app.api.fields import PathId
from app.api.idempotency import IdempotencyKey, create_once
from app.api.imports.csv_rows import CSV, FIELDS, to_csv
from app.api.imports.ndjson import MEDIA_TYPES
from app.api.resource import LIST_ERRORS, READ, Resource
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers, wrong_parameter
from app.state import CurrentState, CurrentStore, State
from campaigns.campaign import model, service
from campaigns.campaign import preview as previews
from campaigns.campaign.service import CampaignFilter
from campaigns.campaign.statuses import ACTIVE, ARCHIVED, DRAFT, PAUSED
from campaigns.store import Store

PREFIX = "/v1/campaigns"
EXPORT_PAGE = 500
CAMPAIGNS = Resource(model.Campaign.kind, Campaign, CAMPAIGN)
SAVED = Resource(model.Campaign.kind, SavedCampaign, CAMPAIGN | {"warnings": []})

router = APIRouter(prefix=PREFIX, tags=["campaigns"])

NewFields = Annotated[dict[str, Any], Described(NewCampaign), Body(openapi_examples=NEW_CAMPAIGNS)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(CampaignChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=CHANGES),
]


@router.post("", summary="Create a campaign", **SAVED.create(NEW_DRAFT, errors.CREATE))
async def create_campaign(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Creates a draft. It serves once it is activated. Warns about a targeting that probably does
    not say what was meant."""
    return await create_once(
        store, caller, key, fields, service.create, PREFIX, lambda c: c.id, _warnings
    )


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
    return responses.page(await service.page(store, asked.filters(), asked.limit, asked.cursor))


EXPORTED = answers(
    to_csv([CAMPAIGN], head=True),
    scope=READ,
    media_type=CSV,
    errors={"wrong_format": wrong_parameter("format", "literal_error", "csv or ndjson")},
)
EXPORTED[200]["content"][MEDIA_TYPES[0]] = {"example": '{"external_id":"spring-24"}\n'}


@router.get(
    "/export",
    summary="Export campaigns",
    response_class=Response,
    responses=EXPORTED,
)
async def export_campaigns(
    _: Reader, store: CurrentStore, asked: Annotated[CampaignExport, Query()]
) -> Response:
    """All campaigns that the filters choose, as CSV or NDJSON, with the fields that an import
    takes. Campaigns without an `external_id` would be created anew by an import."""
    filters = asked.filters()
    await service.page(store, filters, 1)  # an error is answered before the first line
    media_type = CSV if asked.format == "csv" else MEDIA_TYPES[0]
    headers = {"Content-Disposition": f'attachment; filename="campaigns.{asked.format}"'}
    lines = _exported(store, filters, asked.format)
    return StreamingResponse(lines, media_type=media_type, headers=headers)


async def _exported(store: Store, filters: CampaignFilter, format: str) -> AsyncIterator[bytes]:
    cursor, first = None, True
    while first or cursor:
        page = await service.page(store, filters, EXPORT_PAGE, cursor)
        shown = [campaign.to_dict() for campaign in page.items]
        if format == "csv":
            yield to_csv(shown, head=first).encode()
        else:
            lines = ({name: each[name] for name in FIELDS} for each in shown)
            yield b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
        cursor, first = page.next_cursor, False


@router.post(
    "/preview",
    summary="Preview a new campaign",
    response_model=Preview,
    responses=answers(PREVIEW, scope=READ, body=True, errors=errors.NEW),
)
async def preview_campaign(
    _: Reader, store: CurrentStore, state: CurrentState, fields: NewFields
) -> Response:
    """Shows what creating the campaign would do, and writes nothing: its normal form, warnings, the
    campaigns with the same targeting, the cost of matching it, and which of the last sampled
    requests it would match."""
    return await _preview(state, await previews.preview_new(store, fields))


@router.get("/{id:int}", summary="Read a campaign", **CAMPAIGNS.read())
async def read_campaign(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """Returns a campaign, with its version as the ETag."""
    return responses.one(await service.get(store, id))


@router.patch("/{id:int}", summary="Change a campaign", **SAVED.change(errors.CHANGE))
async def change_campaign(
    caller: Writer,
    store: CurrentStore,
    id: PathId,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """Applies a JSON merge patch (RFC 7396). A patch that changes nothing is not written: the
    version and the rev stay the same. Warns about a targeting in the patch that probably does not
    say what was meant."""
    campaign = await service.patch(store, caller.actor, id, fields, version)
    return responses.one(campaign, **_warnings(campaign))


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
    _: Reader, store: CurrentStore, state: CurrentState, id: PathId, fields: ChangedFields
) -> Response:
    """Shows what a patch would do, and writes nothing; `{}` previews the campaign as it is.
    `sampled` has which of the last sampled requests the new targeting gains and loses."""
    return await _preview(state, await previews.preview_change(store, id, fields))


def _warnings(campaign: model.Campaign) -> dict[str, Any]:
    return {"warnings": responses.warnings(campaign.warnings)}


async def _preview(state: State, preview: previews.Preview) -> Response:
    understood = preview.understanding
    requests = await sampled_requests(state)
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
        "sampled": await previews.compare_on(state["store"], preview, requests),
    }
    return responses.json(content)
