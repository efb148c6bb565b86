"""`/v1/keys`: create, list and revoke API keys; which key is this?

A key can only hand out scopes that it has itself. The token is in the answer to the creation and
nowhere else, so that request takes no `Idempotency-Key`: its answer would have to be stored.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Body
from fastapi.openapi.models import Example
from pydantic import Field, create_model
from starlette.responses import Response

from app.api import responses
from app.api.fields import PathId
from app.api.models import new_model, record_model
from app.errors.http_errors import NotAllowed
from app.middleware.scopes import AnyCaller, KeyWriter
from app.openapi.responses import WRONG_ID, Described, answers
from app.state import CurrentStore
from campaigns.errors import InvalidFields, NotFound
from campaigns.keys import service
from campaigns.keys.model import SCOPES, ApiKey, check_new_key
from campaigns.store import utc_now

WRITE = "keys:write"
PREFIX = "/v1/keys"

router = APIRouter(prefix=PREFIX, tags=["keys"])

NewApiKey = new_model(ApiKey, "NewApiKey", "A new API key.")
Key = record_model(ApiKey, "ApiKey", "An API key, without its secret.")
CreatedKey = create_model(
    "CreatedApiKey",
    __base__=Key,
    __doc__="A new API key with its token.",
    token=(str, Field(description="what its owner sends; it cannot be read again")),
)
_ITEMS: Any = list[Key]  # type: ignore[valid-type]
KeyList = create_model(
    "ApiKeyList", __doc__="All keys in the order of creation.", items=(_ITEMS, ...)
)

KEY = ApiKey.example()
NEW: dict[str, Example] = {
    "ad_server": {
        "summary": "A key that can only match",
        "value": {"name": "ad server", "scopes": ["match"], "rate": 500},
    },
    "expires": {
        "summary": "A key for a campaign manager, for some time",
        "value": {
            "name": "Ada",
            "scopes": ["campaigns:read", "campaigns:write"],
            "expires_at": "2099-01-01T00:00:00Z",
        },
    },
}
NewFields = Annotated[dict[str, Any], Described(NewApiKey), Body(openapi_examples=NEW)]


def _wrong() -> InvalidFields:
    return InvalidFields(*check_new_key({"name": "Ada", "scopes": ["everything"]}, utc_now())[1])


@router.post(
    "",
    summary="Create an API key",
    status_code=201,
    response_model=CreatedKey,
    responses=answers(
        KEY | {"token": "copse_1f6c2a9b04d7_KfP0b8m2VxQ7cS1dTgYh3w"},
        scope=WRITE,
        status=201,
        body=True,
        errors={"wrong_fields": _wrong(), "scope_of_others": NotAllowed("stats:write")},
    ),
)
async def create_key(caller: KeyWriter, store: CurrentStore, fields: NewFields) -> Response:
    """Creates a key and returns its token, which cannot be read again: only a hash of it is stored.
    A key can only have scopes that the calling key has too."""
    asked = fields.get("scopes")
    for scope in SCOPES:
        if isinstance(asked, list) and scope in asked and scope not in caller.scopes:
            raise NotAllowed(scope)
    new = await service.create(store, caller.actor, fields)
    answer = responses.json({**new.key.to_dict(), "token": new.token})
    answer.status_code = 201
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.get(
    "",
    summary="List the API keys",
    response_model=KeyList,
    responses=answers({"items": [KEY]}, scope=WRITE),
)
async def list_keys(_: KeyWriter, store: CurrentStore) -> Response:
    """Lists all keys, also revoked and expired ones."""
    return responses.several(await service.every(store))


@router.get(
    "/current",
    summary="Read the key of this request",
    response_model=Key,
    responses=answers(KEY, scope=None, errors={"missing": NotFound("key", 1)}),
)
async def read_current_key(caller: AnyCaller, store: CurrentStore) -> Response:
    """Returns the key that the request was sent with: its name, scopes and limits."""
    return responses.json((await service.get(store, caller.key_id)).to_dict())


@router.post(
    "/{id:int}/revoke",
    summary="Revoke an API key",
    response_model=Key,
    responses=answers(
        KEY | {"revoked_at": "2026-11-16T10:00:00Z"},
        scope=WRITE,
        errors={"missing": NotFound("key", 1), "wrong_id": WRONG_ID},
    ),
)
async def revoke_key(caller: KeyWriter, store: CurrentStore, id: PathId) -> Response:
    """Revokes a key for good; every worker refuses it as soon as the change has reached it. A key
    that is revoked already stays as it is."""
    return responses.json((await service.revoke(store, caller.actor, id)).to_dict())
