"""`/v1/advertisers`: create, list, read, change, pause, resume, delete."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from fastapi.openapi.models import Example
from starlette.responses import Response

from app.api import responses
from app.api.etags import RequiredVersion, SeenVersion
from app.api.fields import TEXT_FILTER, Listing, PathId
from app.api.idempotency import IdempotencyKey, create_once
from app.api.models import changes_model, new_example, new_model, page_model, record_model
from app.api.resource import LIST_ERRORS, READ, Errors, Resource
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.advertiser import model, service
from campaigns.advertiser.service import AdvertiserFilter
from campaigns.campaign.statuses import ACTIVE, PAUSED, AdvertiserStatus
from campaigns.errors import AdvertiserInUse, InvalidFields
from campaigns.record import check_changes, check_new

PREFIX = "/v1/advertisers"

router = APIRouter(prefix=PREFIX, tags=["advertisers"])

NewAdvertiser = new_model(model.Advertiser, "NewAdvertiser", "A new advertiser. It starts active.")
AdvertiserChanges = changes_model(model.Advertiser, "AdvertiserChanges")
Advertiser = record_model(
    model.Advertiser,
    "Advertiser",
    "An advertiser. While it is paused, none of its campaigns serves.",
)
AdvertiserPage = page_model(Advertiser, "AdvertiserPage", "Advertisers in the order of creation.")


class AdvertiserListing(Listing):
    """Which advertisers to list."""

    status: AdvertiserStatus | None = None
    text: str | None = TEXT_FILTER


ADVERTISER = model.Advertiser.example()
ADVERTISERS = Resource(model.Advertiser.kind, Advertiser, ADVERTISER)

_NEW: dict[str, Example] = {"shop": {"summary": "A shop", "value": new_example(model.Advertiser)}}
_CHANGES: dict[str, Example] = {"name": {"summary": "Another name", "value": {"name": "The Shop"}}}
_WRONG_FIELDS: Errors = {
    "wrong_domain": InvalidFields(*check_changes(model.Advertiser, {"domain": "shop"})[1]),
    "wrong_status": InvalidFields(*check_changes(model.Advertiser, {"status": PAUSED})[1]),
}
_NO_NAME: Errors = {"no_name": InvalidFields(*check_new(model.Advertiser, {})[1])}

NewFields = Annotated[dict[str, Any], Described(NewAdvertiser), Body(openapi_examples=_NEW)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(AdvertiserChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=_CHANGES),
]


@router.post(
    "",
    summary="Create an advertiser",
    **ADVERTISERS.create(ADVERTISER | {"version": 1}, _WRONG_FIELDS | _NO_NAME),
)
async def create_advertiser(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Creates an active advertiser."""
    return await create_once(store, caller, key, fields, service.create, PREFIX, lambda a: a.id)


@router.get(
    "",
    summary="List advertisers",
    response_model=AdvertiserPage,
    responses=answers({"items": [ADVERTISER], "next_cursor": None}, scope=READ, errors=LIST_ERRORS),
)
async def list_advertisers(
    _: Reader, store: CurrentStore, asked: Annotated[AdvertiserListing, Query()]
) -> Response:
    """Lists advertisers in the order of creation. `text` is searched in the name and the domain."""
    filters = AdvertiserFilter(asked.status, asked.text)
    return responses.page(await service.page(store, filters, asked.limit, asked.cursor))


@router.get("/{id:int}", summary="Read an advertiser", **ADVERTISERS.read())
async def read_advertiser(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """Returns an advertiser, with its version as the ETag."""
    return responses.one(await service.get(store, id))


@router.patch("/{id:int}", summary="Change an advertiser", **ADVERTISERS.change(_WRONG_FIELDS))
async def change_advertiser(
    caller: Writer,
    store: CurrentStore,
    id: PathId,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """Applies a JSON merge patch (RFC 7396). A patch that changes nothing is not written."""
    return responses.one(await service.patch(store, caller.actor, id, fields, version))


@router.delete(
    "/{id:int}",
    summary="Delete an advertiser",
    **ADVERTISERS.delete({"in_use": AdvertiserInUse(1, [1, 12], 2)}),
)
async def delete_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: RequiredVersion
) -> Response:
    """Removes an advertiser that has no campaigns, not even archived ones."""
    return responses.removed(await service.delete(store, caller.actor, id, version))


@router.post(
    "/{id:int}/pause", summary="Pause an advertiser", **ADVERTISERS.move(PAUSED, refused=PAUSED)
)
async def pause_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes all its campaigns out of the index. Their own status stays as it is."""
    return responses.one(await service.pause(store, caller.actor, id, version))


@router.post(
    "/{id:int}/resume", summary="Resume an advertiser", **ADVERTISERS.move(ACTIVE, refused=ACTIVE)
)
async def resume_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Lets its active campaigns serve again."""
    return responses.one(await service.resume(store, caller.actor, id, version))
