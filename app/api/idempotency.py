"""`Idempotency-Key`: create something once.

The first request with a key creates the object, and stores its answer in the same transaction. A
repeated request gets that answer again, with `Idempotent-Replayed: true`. A request that fails
stores nothing, so the key can be used again at once.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Protocol, TypeVar
from urllib.parse import quote

import orjson
from fastapi import Header
from starlette.responses import Response

from app.api.etags import etag
from app.api.responses import JSON, Record
from app.middleware.authentication import Caller
from campaigns.errors import InFlight, Refused
from campaigns.log import idempotency
from campaigns.log.idempotency import MAX_KEY, Answering
from campaigns.log.repository import Answer, RequestKey
from campaigns.store import Store

R = TypeVar("R", bound=Record)

_REPLAYED = {"Idempotent-Replayed": "true"}

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="a request that is repeated with the same key and body is executed once; "
        f"1 to {MAX_KEY} printable ASCII characters",
    ),
]


class Create(Protocol[R]):
    """An operation of the store that creates a record."""

    async def __call__(
        self,
        store: Store,
        actor: str,
        fields: Mapping[str, Any],
        answering: Answering[R] | None = None,
    ) -> R: ...


async def create_once(
    store: Store,
    caller: Caller,
    key: str | None,
    fields: Mapping[str, Any],
    create: Create[R],
    route: str,
    name_of: Callable[[R], int | str],
    more: Callable[[R], Mapping[str, Any]] = lambda _: {},
) -> Response:
    """Create a record and answer 201, with `more` members; with a key, only once."""

    def render(record: R) -> Answer:
        name = quote(str(name_of(record)), safe="")
        headers = {"ETag": etag(record.version), "Location": f"{route}/{name}"}
        return Answer(201, orjson.dumps({**record.to_dict(), **more(record)}).decode(), headers)

    if key is None:
        return _response(render(await create(store, caller.actor, fields)))
    request = RequestKey(caller.key_id, key, _hash_of(route, fields), store.now())
    if done := await idempotency.find(store, request):
        return _response(done, **_REPLAYED)
    try:
        return _response(
            render(await create(store, caller.actor, fields, Answering(request, render)))
        )
    except (InFlight, Refused):
        # The same request may have been done meanwhile: that could be what refuses this one.
        if done := await idempotency.find(store, request):
            return _response(done, **_REPLAYED)
        raise


def _hash_of(route: str, fields: Mapping[str, Any]) -> str:
    """A hash of the content, whatever the order of its names and its white space."""
    text = json.dumps([route, fields], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _response(answer: Answer, **more: str) -> Response:
    return Response(answer.body, answer.status, headers=answer.headers | more, media_type=JSON)
