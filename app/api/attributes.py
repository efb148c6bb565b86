"""`/v1/attributes`: the catalogue that targeting is checked against."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from fastapi.openapi.models import Example
from pydantic import Field, create_model
from starlette.responses import Response

from app.api import responses
from app.api.etags import RequiredVersion
from app.api.idempotency import IdempotencyKey, create_once
from app.api.models import changes_model, new_model, record_model
from app.api.resource import Errors, Resource
from app.middleware.scopes import AnyCaller, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.catalogue import service
from campaigns.catalogue.model import BUILT_IN, MAX_ATTRIBUTES, AttributeRecord
from campaigns.errors import AttributeInUse, BuiltIn, CatalogueFull, InvalidFields, Taken
from campaigns.record import check_new

PREFIX = "/v1/attributes"

router = APIRouter(prefix=PREFIX, tags=["attributes"])

NewAttribute = new_model(
    AttributeRecord, "NewAttribute", "A new attribute. Its name cannot change later."
)
AttributeChanges = changes_model(AttributeRecord, "AttributeChanges")
CatalogueAttribute = create_model(
    "CatalogueAttribute",
    __base__=record_model(AttributeRecord, "StoredAttribute", "An attribute as it is stored."),
    __doc__="An attribute. A built-in one is in every request, and cannot be written.",
    usual_values=(
        list[str] | None,
        Field(description="`values`, or else those that Copse knows for this name; null: any"),
    ),
)
_ITEMS: Any = list[CatalogueAttribute]  # type: ignore[valid-type]
AttributeList = create_model(
    "AttributeList", __doc__="The whole catalogue, by name.", items=(_ITEMS, ...)
)

ATTRIBUTE = AttributeRecord.example() | {"usual_values": None}
ATTRIBUTES = Resource(AttributeRecord.kind, CatalogueAttribute, ATTRIBUTE, read_scope=None)

_NEW: dict[str, Example] = {
    "score": {
        "summary": "How visible the placement is",
        "value": {"name": "page.viewability", "type": "float", "description": "0 to 1"},
    }
}
_CHANGES: dict[str, Example] = {
    "description": {"summary": "Another description", "value": {"description": "full years"}},
    "values": {"summary": "The values that it has", "value": {"values": ["gold", "silver"]}},
}


def _wrong(**sent: str) -> InvalidFields:
    return InvalidFields(*check_new(AttributeRecord, {"name": "age", "type": "int"} | sent)[1])


_WRONG_TYPE: Errors = {"wrong_type": _wrong(type="text")}
_BUILT_IN: Errors = {"built_in": BuiltIn("now.hour")}
_IN_USE: Errors = {"in_use": AttributeInUse("age", [7, 12], 2)}
_TAKEN: Errors = {
    "wrong_name": _wrong(name="and"),
    "taken": Taken("attribute", "name", "age"),
    "full": CatalogueFull(MAX_ATTRIBUTES),
}

NewFields = Annotated[dict[str, Any], Described(NewAttribute), Body(openapi_examples=_NEW)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(AttributeChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=_CHANGES),
]
PathName = Annotated[
    str, Path(openapi_examples={"age": {"summary": "an attribute", "value": "age"}})
]


def _usual(attribute: AttributeRecord) -> dict[str, Any]:
    return {"usual_values": attribute.usual_values}


def _shown(attribute: AttributeRecord) -> dict[str, Any]:
    return {**attribute.to_dict(), **_usual(attribute)}


@router.get(
    "",
    summary="List the attributes",
    response_model=AttributeList,
    responses=answers({"items": [ATTRIBUTE, _shown(BUILT_IN[0])]}, scope=None),
)
async def list_attributes(_: AnyCaller, store: CurrentStore) -> Response:
    """Lists the whole catalogue, built-in attributes included, by name."""
    return responses.json({"items": [_shown(each) for each in await service.every(store)]})


@router.post(
    "",
    summary="Add an attribute",
    **ATTRIBUTES.create(ATTRIBUTE | {"version": 1}, _WRONG_TYPE | _TAKEN | _BUILT_IN),
)
async def create_attribute(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Adds an attribute. Running indexes get it through the feed."""
    return await create_once(
        store, caller, key, fields, service.create, PREFIX, lambda a: a.name, _usual
    )


@router.get("/{name:path}", summary="Read an attribute", **ATTRIBUTES.read())
async def read_attribute(_: AnyCaller, store: CurrentStore, name: PathName) -> Response:
    """Returns an attribute, with its version as the ETag."""
    attribute = await service.get(store, name)
    return responses.one(attribute, **_usual(attribute))


@router.patch(
    "/{name:path}",
    summary="Change an attribute",
    **ATTRIBUTES.change(_WRONG_TYPE | _BUILT_IN | _IN_USE),
)
async def change_attribute(
    caller: Writer,
    store: CurrentStore,
    name: PathName,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """Applies a JSON merge patch (RFC 7396). The type can change if every campaign that uses the
    attribute is valid with the new one, archived ones excepted; the error names those that are
    not."""
    attribute = await service.patch(store, caller.actor, name, fields, version)
    return responses.one(attribute, **_usual(attribute))


@router.delete(
    "/{name:path}", summary="Remove an attribute", **ATTRIBUTES.delete(_BUILT_IN | _IN_USE)
)
async def delete_attribute(
    caller: Writer, store: CurrentStore, name: PathName, version: RequiredVersion
) -> Response:
    """Removes an attribute that no campaign uses, archived ones excepted; the error names the
    campaigns that do."""
    return responses.removed(await service.delete(store, caller.actor, name, version))
