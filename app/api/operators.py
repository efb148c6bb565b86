"""`/v1/operators`: what targeting can call."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from fastapi.openapi.models import Example
from pydantic import create_model
from starlette.responses import Response

from app.api import responses
from app.api.etags import RequiredVersion
from app.api.idempotency import IdempotencyKey, create_once
from app.api.models import changes_model, new_model, record_model
from app.api.resource import Errors, Resource
from app.middleware.scopes import Reader, Writer
from app.openapi.document import MERGE_PATCH
from app.openapi.responses import Described, answers
from app.state import CurrentStore
from campaigns.errors import FieldProblem, InvalidFields, OperatorInUse, Taken, TooManyOperators
from campaigns.operators import service
from campaigns.operators.model import MAX_OPERATORS, OperatorRecord

PREFIX = "/v1/operators"

router = APIRouter(prefix=PREFIX, tags=["operators"])

NewOperator = new_model(
    OperatorRecord, "NewOperator", "A new operator. Its name cannot change later."
)
OperatorChanges = changes_model(OperatorRecord, "OperatorChanges")
StoredOperator = record_model(
    OperatorRecord, "RegisteredOperator", "An operator that targeting can call."
)
_ITEMS: Any = list[StoredOperator]  # type: ignore[valid-type]
OperatorList = create_model(
    "RegisteredOperators", __doc__="All operators, by name.", items=(_ITEMS, ...)
)

OPERATOR = OperatorRecord.example()
OPERATORS = Resource(OperatorRecord.kind, StoredOperator, OPERATOR)

_NEW: dict[str, Example] = {
    "http": {
        "summary": "A service that scores pages",
        "value": {
            "name": "brand_safety",
            "type": "http",
            "url": "https://safety.example/score",
            "arguments": ["string"],
            "result": "float",
        },
    }
}
_CHANGES: dict[str, Example] = {
    "timeout": {"summary": "Wait for longer", "value": {"timeout_ms": 80}}
}
_WRONG: Errors = {
    "wrong_target": InvalidFields(
        FieldProblem("/url", "operator.target", "an operator of type http needs url")
    )
}
_IN_USE: Errors = {"in_use": OperatorInUse("brand_safety", [7, 12], 2)}
_TAKEN: Errors = {
    "taken": Taken("operator", "name", "brand_safety"),
    "full": TooManyOperators(MAX_OPERATORS),
}

NewFields = Annotated[dict[str, Any], Described(NewOperator), Body(openapi_examples=_NEW)]
ChangedFields = Annotated[
    dict[str, Any],
    Described(OperatorChanges),
    Body(media_type=MERGE_PATCH, openapi_examples=_CHANGES),
]
PathName = Annotated[
    str,
    Path(openapi_examples={"brand_safety": {"summary": "an operator", "value": "brand_safety"}}),
]


@router.get(
    "",
    summary="List the operators",
    response_model=OperatorList,
    responses=answers({"items": [OPERATOR]}, scope="campaigns:read"),
)
async def list_operators(_: Reader, store: CurrentStore) -> Response:
    """Lists all operators by name."""
    return responses.json({"items": [each.to_dict() for each in await service.every(store)]})


@router.post(
    "", summary="Add an operator", **OPERATORS.create(OPERATOR | {"version": 1}, _WRONG | _TAKEN)
)
async def create_operator(
    caller: Writer, store: CurrentStore, fields: NewFields, key: IdempotencyKey = None
) -> Response:
    """Adds an operator. Workers get it through the feed; they call only hosts that the setting
    `COPSE_OPERATOR_HOSTS` allows."""
    return await create_once(
        store, caller, key, fields, service.create, PREFIX, lambda operator: operator.name
    )


@router.get("/{name}", summary="Read an operator", **OPERATORS.read())
async def read_operator(_: Reader, store: CurrentStore, name: PathName) -> Response:
    """Returns an operator, with its version as the ETag."""
    return responses.one(await service.get(store, name))


@router.patch("/{name}", summary="Change an operator", **OPERATORS.change(_WRONG | _IN_USE))
async def change_operator(
    caller: Writer,
    store: CurrentStore,
    name: PathName,
    version: RequiredVersion,
    fields: ChangedFields,
) -> Response:
    """Applies a JSON merge patch (RFC 7396). Arguments and result can change only while no campaign
    calls the operator, archived ones excepted; the error names the campaigns that do."""
    return responses.one(await service.patch(store, caller.actor, name, fields, version))


@router.delete("/{name}", summary="Remove an operator", **OPERATORS.delete(_IN_USE))
async def delete_operator(
    caller: Writer, store: CurrentStore, name: PathName, version: RequiredVersion
) -> Response:
    """Removes an operator that no campaign calls, archived ones excepted; the error names the
    campaigns that do."""
    return responses.removed(await service.delete(store, caller.actor, name, version))
