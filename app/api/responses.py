"""How the admin API answers: a record with its ETag, a page of a list, the rev of a removal."""

from collections.abc import Sequence
from typing import Any, Protocol

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.etags import etag
from campaigns.database.pagination import Page

JSON = "application/json"


class Record(Protocol):
    """Anything that has a shape for people and a version."""

    @property
    def version(self) -> int: ...

    def to_dict(self) -> dict[str, Any]: ...


class Listed(Protocol):
    """Anything that has a shape for people."""

    def to_dict(self) -> dict[str, Any]: ...


class Removed(BaseModel):
    """It is gone, since this rev."""

    rev: int = Field(description="the place of the removal in the log of changes")


REMOVED = {"rev": 43}


def one(record: Record) -> Response:
    """A record."""
    return Response(
        orjson.dumps(record.to_dict()), headers={"ETag": etag(record.version)}, media_type=JSON
    )


def page(found: Page[Any]) -> Response:
    """A page of a list."""
    return several(found.items, next_cursor=found.next_cursor)


def several(records: Sequence[Listed], **more: object) -> Response:
    """Records, and what stands beside them."""
    items = [record.to_dict() for record in records]
    return Response(orjson.dumps({"items": items, **more}), media_type=JSON)


def removed(rev: int) -> Response:
    """A removal."""
    return Response(orjson.dumps({"rev": rev}), media_type=JSON)
