"""`/v1/advertisers`: create, list, read, change, pause, resume, delete."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.campaign_problems import LIST, ONCE, Errors
from app.api.etags import RequiredVersion, SeenVersion
from app.api.fields import (
    TEXT_FILTER,
    Id,
    Listing,
    Moment,
    Name,
    NextCursor,
    PathId,
    Rev,
    Version,
    without_defaults,
)
from app.api.idempotency import IdempotencyKey, create_once
from app.api.responses import REMOVED, Removed
from app.errors.http_errors import VersionRequired, WrongIfMatch
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import WRONG_ID, Described, answers
from app.state import CurrentStore
from campaigns.advertiser import service
from campaigns.advertiser.service import AdvertiserFilter
from campaigns.errors import (
    AdvertiserInUse,
    FieldProblem,
    InvalidFields,
    NotFound,
    TransitionRefused,
    VersionConflict,
)

PREFIX = "/v1/advertisers"
READ, WRITE = "campaigns:read", "campaigns:write"

router = APIRouter(prefix=PREFIX, tags=["advertisers"])

Status = Literal["active", "paused"]
Domain = Annotated[
    str | None, Field(max_length=253, description="a domain name; what is not ASCII as punycode")
]


class NewAdvertiser(BaseModel):
    """An advertiser to be; it is active from the start."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    domain: Domain = None


class AdvertiserChanges(BaseModel):
    """A merge patch (RFC 7396): what is left out stays as it is, a null sets a field back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_defaults)

    name: Name = ""
    domain: Domain = None


class Advertiser(BaseModel):
    """An advertiser; while it is paused, none of its campaigns serves."""

    id: Id
    name: str
    domain: str | None
    status: Status
    version: Version
    rev: Rev
    created_at: Moment
    updated_at: Moment


class AdvertiserPage(BaseModel):
    """Advertisers in the order in which they were created."""

    items: list[Advertiser]
    next_cursor: NextCursor


class AdvertiserListing(Listing):
    """Which advertisers to list."""

    status: Status | None = None
    text: str | None = TEXT_FILTER


ADVERTISER: dict[str, Any] = {
    "id": 3,
    "name": "Shop",
    "domain": "shop.example",
    "status": "active",
    "version": 1,
    "rev": 38,
    "created_at": "2026-11-16T09:00:00Z",
    "updated_at": "2026-11-16T09:00:00Z",
}
PAUSED = ADVERTISER | {"status": "paused", "version": 2, "rev": 44}
PAGE = {"items": [ADVERTISER], "next_cursor": None}
NEW: dict[str, Example] = {
    "shop": {"summary": "A shop", "value": {"name": "Shop", "domain": "shop.example"}}
}
CHANGES: dict[str, Example] = {"name": {"summary": "Another name", "value": {"name": "The Shop"}}}

_FIELDS: Errors = {
    "wrong_domain": InvalidFields(
        FieldProblem("/domain", "domain.syntax", "this is not a domain name, like shop.example")
    ),
    "wrong_status": InvalidFields(
        FieldProblem("/status", "field.read_only", "the status changes by pause and resume")
    ),
}
_MISSING: Errors = {"missing": NotFound("advertiser", 3), "wrong_id": WRONG_ID}
_STALE: Errors = {
    "stale": VersionConflict("advertiser", 3, 1, 2),
    "wrong_if_match": WrongIfMatch("1"),
}
_VERSION: Errors = _STALE | {"no_version": VersionRequired()}
_NO_NAME: Errors = {
    "no_name": InvalidFields(FieldProblem("/name", "field.missing", "name is required"))
}
_IN_USE: Errors = {"in_use": AdvertiserInUse(3, [7, 12], 2)}
_PAUSED: Errors = {"refused": TransitionRefused("advertiser", 3, "paused", "paused")}
_ACTIVE: Errors = {"refused": TransitionRefused("advertiser", 3, "active", "active")}

NewFields = Annotated[dict[str, Any], Described(NewAdvertiser), Body(openapi_examples=NEW)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(AdvertiserChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=CHANGES),
]


@router.post(
    "",
    summary="Create an advertiser",
    status_code=201,
    response_model=Advertiser,
    responses=answers(
        ADVERTISER,
        "ETag",
        "Location",
        "Idempotent-Replayed",
        scope=WRITE,
        status=201,
        body=True,
        errors=_FIELDS | _NO_NAME | ONCE,
    ),
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
    responses=answers(PAGE, scope=READ, errors=LIST),
)
async def list_advertisers(
    _: Reader, store: CurrentStore, asked: Annotated[AdvertiserListing, Query()]
) -> Response:
    """Advertisers in the order in which they were created. `text` is looked for in the name and
    the domain."""
    filters = AdvertiserFilter(asked.status, asked.text)
    return responses.page(await service.page(store, filters, asked.limit, asked.cursor))


@router.get(
    "/{id:int}",
    summary="Read an advertiser",
    response_model=Advertiser,
    responses=answers(ADVERTISER, "ETag", scope=READ, errors=_MISSING),
)
async def read_advertiser(_: Reader, store: CurrentStore, id: PathId) -> Response:
    """An advertiser, with its version as the ETag."""
    return responses.one(await service.get(store, id))


@router.patch(
    "/{id:int}",
    summary="Change an advertiser",
    response_model=Advertiser,
    responses=answers(
        ADVERTISER,
        "ETag",
        scope=WRITE,
        body=True,
        errors=_FIELDS | _MISSING | _VERSION,
    ),
)
async def change_advertiser(
    caller: Writer,
    store: CurrentStore,
    id: PathId,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """A JSON merge patch (RFC 7396). What changes nothing is not written."""
    return responses.one(await service.patch(store, caller.actor, id, fields, version))


@router.delete(
    "/{id:int}",
    summary="Delete an advertiser",
    response_model=Removed,
    responses=answers(
        REMOVED,
        scope=WRITE,
        errors=_MISSING | _VERSION | _IN_USE,
    ),
)
async def delete_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: RequiredVersion
) -> Response:
    """Removes an advertiser that has no campaigns, archived ones included."""
    return responses.removed(await service.delete(store, caller.actor, id, version))


@router.post(
    "/{id:int}/pause",
    summary="Pause an advertiser",
    response_model=Advertiser,
    responses=answers(
        PAUSED,
        "ETag",
        scope=WRITE,
        errors=_MISSING | _STALE | _PAUSED,
    ),
)
async def pause_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Takes all its campaigns out, and leaves their own status as it is."""
    return responses.one(await service.pause(store, caller.actor, id, version))


@router.post(
    "/{id:int}/resume",
    summary="Resume an advertiser",
    response_model=Advertiser,
    responses=answers(
        ADVERTISER,
        "ETag",
        scope=WRITE,
        errors=_MISSING | _STALE | _ACTIVE,
    ),
)
async def resume_advertiser(
    caller: Writer, store: CurrentStore, id: PathId, version: SeenVersion
) -> Response:
    """Lets its active campaigns serve again."""
    return responses.one(await service.resume(store, caller.actor, id, version))
