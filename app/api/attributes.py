"""`/v1/attributes`: the catalogue, which targeting is checked against."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path
from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api import responses
from app.api.campaign_problems import ONCE, Errors
from app.api.etags import RequiredVersion
from app.api.fields import Moment, Rev, Version, without_defaults
from app.api.idempotency import IdempotencyKey, create_once
from app.api.responses import REMOVED, Removed
from app.errors.http_errors import VersionRequired, WrongIfMatch
from app.middleware.scopes import AnyCaller, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.catalogue import service
from campaigns.errors import (
    AttributeInUse,
    BuiltIn,
    FieldProblem,
    InvalidFields,
    NotFound,
    Taken,
    VersionConflict,
)

PREFIX = "/v1/attributes"
WRITE = "campaigns:write"

router = APIRouter(prefix=PREFIX, tags=["attributes"])

Type = Literal["bool", "int", "float", "string", "int list", "string list"]
Description = Annotated[str | None, Field(max_length=1000)]
PathName = Annotated[str, Path(examples=["age"])]


class NewAttribute(BaseModel):
    """An attribute to be; it keeps its name for ever."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(
        min_length=1,
        description="letters, digits and _ in parts separated by dots; no word of the language",
    )
    type: Type
    description: Description = ""


class AttributeChanges(BaseModel):
    """A merge patch (RFC 7396): what is left out stays as it is, a null sets a field back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=without_defaults)

    type: Type = "bool"
    description: Description = ""


class CatalogueAttribute(BaseModel):
    """An attribute; one that is built in is in every request, and cannot be written."""

    name: str
    type: Type
    description: str
    built_in: bool
    version: Version
    rev: Rev
    created_at: Moment | None
    updated_at: Moment | None


class AttributeList(BaseModel):
    """The whole catalogue, by name."""

    items: list[CatalogueAttribute]


ATTRIBUTE: dict[str, Any] = {
    "name": "age",
    "type": "int",
    "description": "years, from user.yob",
    "built_in": False,
    "version": 1,
    "rev": 0,
    "created_at": "2026-11-16T09:00:00Z",
    "updated_at": "2026-11-16T09:00:00Z",
}
_BUILT_IN: dict[str, Any] = {
    "name": "now.hour",
    "type": "int",
    "description": "the hour in UTC, 0 to 23",
    "built_in": True,
    "version": 0,
    "rev": 0,
    "created_at": None,
    "updated_at": None,
}
LIST = {"items": [ATTRIBUTE, _BUILT_IN]}
NEW: dict[str, Example] = {
    "score": {
        "summary": "How good the place is",
        "value": {"name": "page.viewability", "type": "float", "description": "0 to 1"},
    }
}
CHANGES: dict[str, Example] = {
    "description": {"summary": "Other words", "value": {"description": "full years"}}
}

_WRONG_TYPE: Errors = {
    "wrong_type": InvalidFields(
        FieldProblem(
            "/type",
            "attribute.type",
            "the type must be one of bool, int, float, string, int list, string list, not 'text'",
        )
    )
}
_NEW: Errors = _WRONG_TYPE | {
    "wrong_name": InvalidFields(
        FieldProblem("/name", "attribute.keyword", "and is a word of the language, not a name")
    ),
    "taken": Taken("attribute", "name", "age"),
}
_MISSING: Errors = {"missing": NotFound("attribute", "age")}
_BUILT_IN_ONE: Errors = {"built_in": BuiltIn("now.hour")}
_VERSION: Errors = {
    "stale": VersionConflict("attribute", "age", 1, 2),
    "wrong_if_match": WrongIfMatch("1"),
    "no_version": VersionRequired(),
}
_IN_USE: Errors = {"in_use": AttributeInUse("age", [7, 12], 2)}

NewFields = Annotated[dict[str, Any], Described(NewAttribute), Body(openapi_examples=NEW)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(AttributeChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=CHANGES),
]


@router.get(
    "",
    summary="List the attributes",
    response_model=AttributeList,
    responses=answers(LIST, scope=None),
)
async def list_attributes(_: AnyCaller, store: CurrentStore) -> Response:
    """The whole catalogue, built-in attributes included, by name."""
    return responses.several(await service.every(store))


@router.post(
    "",
    summary="Add an attribute",
    status_code=201,
    response_model=CatalogueAttribute,
    responses=answers(
        ATTRIBUTE,
        "ETag",
        "Location",
        "Idempotent-Replayed",
        scope=WRITE,
        status=201,
        body=True,
        errors=_NEW | _BUILT_IN_ONE | ONCE,
    ),
)
async def create_attribute(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Adds an attribute. Running indexes learn of it through the feed."""
    return await create_once(store, caller, key, fields, service.create, PREFIX, lambda a: a.name)


@router.get(
    "/{name}",
    summary="Read an attribute",
    response_model=CatalogueAttribute,
    responses=answers(ATTRIBUTE, "ETag", scope=None, errors=_MISSING),
)
async def read_attribute(_: AnyCaller, store: CurrentStore, name: PathName) -> Response:
    """An attribute, with its version as the ETag."""
    return responses.one(await service.get(store, name))


@router.patch(
    "/{name}",
    summary="Change an attribute",
    response_model=CatalogueAttribute,
    responses=answers(
        ATTRIBUTE,
        "ETag",
        scope=WRITE,
        body=True,
        errors=_WRONG_TYPE | _MISSING | _BUILT_IN_ONE | _VERSION | _IN_USE,
    ),
)
async def change_attribute(
    caller: Writer,
    store: CurrentStore,
    name: PathName,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """A JSON merge patch (RFC 7396). The type changes only while no campaign but archived ones
    speaks of the attribute; the refusal names those that do."""
    return responses.one(await service.patch(store, caller.actor, name, fields, version))


@router.delete(
    "/{name}",
    summary="Remove an attribute",
    response_model=Removed,
    responses=answers(
        REMOVED,
        scope=WRITE,
        errors=_MISSING | _BUILT_IN_ONE | _VERSION | _IN_USE,
    ),
)
async def delete_attribute(
    caller: Writer, store: CurrentStore, name: PathName, version: RequiredVersion
) -> Response:
    """Removes an attribute that no campaign but archived ones speaks of; the refusal names those
    that do."""
    return responses.removed(await service.delete(store, caller.actor, name, version))
