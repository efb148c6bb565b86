"""Responses of the admin API: a record with its ETag, a page of a list, the rev of a removal."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import orjson
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.etags import etag
from campaigns.campaign.analysis import described
from campaigns.database.pagination import Page
from index.language import ExpressionWarning

JSON = "application/json"


class Listed(Protocol):
    """An object that clients see."""

    def to_dict(self) -> dict[str, Any]: ...


class Record(Listed, Protocol):
    """An object with a version."""

    @property
    def version(self) -> int: ...


class Removed(BaseModel):
    """The object was removed at this rev."""

    rev: int = Field(description="the position of the removal in the change log")


REMOVED = {"rev": 43}


def json(content: object, **headers: str) -> Response:
    """A response with a JSON body."""
    return Response(orjson.dumps(content), headers=headers, media_type=JSON)


def one(record: Record, **more: object) -> Response:
    """A record, and other members of the answer."""
    return json({**record.to_dict(), **more}, ETag=etag(record.version))


def warnings(found: Iterable[ExpressionWarning]) -> list[dict[str, Any]]:
    """Warnings as clients see them."""
    return [described(warning) for warning in found]


def page(found: Page[Any]) -> Response:
    """A page of a list."""
    return several(found.items, next_cursor=found.next_cursor)


def several(records: Sequence[Listed], **more: object) -> Response:
    """A list of records, and other members of the answer."""
    return json({"items": [record.to_dict() for record in records], **more})


def removed(rev: int) -> Response:
    """A removal."""
    return json({"rev": rev})
